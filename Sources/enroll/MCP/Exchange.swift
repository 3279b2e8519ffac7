// One message of the host, until it is answered. The message waits for a token, and perhaps for a sign-in; then its
// HTTP exchange runs. The bridge's own requests are exchanges, too.

import EnrollCrypto
import EnrollHost
import EnrollMCP
import EnrollRules

/// One HTTP exchange of the bridge. A class, because libcurl's callbacks fill it.
final class Exchange: ExchangeReceiver {
  enum Kind {
    /// A message of the host.
    case message
    /// The host's `initialize`, sent again after the server has lost the session. Its answer is not passed on.
    case initializeAgain
    /// `notifications/initialized` after ``initializeAgain``.
    case initializedAgain
    /// The stream of the server's own messages (GET).
    case listening
    /// The stream of HTTP+SSE (2024-11-05) with all messages of the server (GET).
    case wholeStream
    /// The rest of a stream that broke (GET with `Last-Event-ID`).
    case resuming
    /// The bridge's own `tools/list`, for a call that was refused because of its headers.
    case listingTools
    /// The end of the session (DELETE).
    case closing
  }

  /// The largest number of bytes reserved for a response at first. More is reserved once this much has arrived.
  private static let firstReserve = 1 << 20
  /// A stream that was open for this time counts as working, even if it had no event.
  private static let lifeNanoseconds: Int64 = 10_000_000_000

  enum Phase {
    /// The exchange has not started yet, because too many other exchanges run.
    case queued
    /// Waits until the session is initialized.
    case held
    /// Waits until the renewal of the token has ended.
    case awaitingToken
    case awaitingSignIn
    /// Waits for its next attempt at this instant, in nanoseconds.
    case resting(until: Int64)
    /// Waits until the server has a session again.
    case awaitingSession
    /// Waits for the list of the tools.
    case awaitingTools
    /// Waits for the address to which messages are POSTed with HTTP+SSE.
    case awaitingEndpoint
    /// The server has the message, and answers on the stream of HTTP+SSE.
    case awaitingAnswer
    case running
  }

  /// The exchange's number within the bridge, for the log.
  let number: Int
  var kind: Kind
  let body: [UInt8]
  let message: Message
  /// The ids of the message's requests that have no answer yet.
  private(set) var openIDs: [MessageID]
  /// Whether the message has requests, which need answers.
  private let hasRequests: Bool
  /// The ids of the message's `tools/list` requests.
  var listIDs: [MessageID]
  /// The deadline for the tokens and sign-ins that this exchange needs, in nanoseconds. The time that the server takes
  /// for its response does not count.
  var deadline: Int64
  var phase = Phase.queued
  /// The HTTP exchange, while it runs.
  var running: StreamedExchange?

  // What was sent.
  var token: AccessToken?
  var sessionID: String?
  /// Whether the last token came from a renewal or a sign-in that this exchange needed.
  var hasFreshToken = false
  var hasSteppedUp = false
  /// Whether the exchange was sent again with the server's nonce.
  var hasNonce = false
  var isRepeated = false
  /// Whether the exchange was sent again in a new session.
  var isInNewSession = false
  /// The headers that repeat the arguments of the call.
  var mirrored: [HTTPHeader] = []
  /// The server's error about these headers, because of which the bridge requested the list of tools.
  var refusal: [UInt8]?
  /// For ``Kind/listingTools``: the number of the page, and the cursor of the next page.
  var page = 1
  var nextPage: [UInt8]?
  /// The challenge of the 401 or 403 because of which the exchange waits.
  var challenge: String?
  var needsMoreScopes = false
  /// The token that the server refused with 401.
  var refusedToken: Secret?
  /// Why the session ended; nil if no session ended.
  var endedSession: String?
  var isClientForgotten = false
  /// The stored token before the sign-in.
  var tokenBefore: Secret?
  /// The user (`sub`) who was signed in when the exchange began to wait for a sign-in; nil if there was no user.
  var userBefore: String?
  /// The pauses before the exchange's stream is opened again.
  var pauses = StreamPause()
  /// When the last attempt was sent, in nanoseconds.
  private(set) var startedAt: Int64 = 0
  /// Whether the host has cancelled the message, which then gets no answer.
  var isCancelled = false

  // What has arrived.
  private(set) var status = 0
  private(set) var headers: [HTTPHeader] = []
  private(set) var collected: [UInt8] = []
  private(set) var isStream = false
  private(set) var isTooLarge = false
  /// Whether the whole body is needed: it has the messages of the server.
  private var needsBody = false
  /// A description of the unusable answer of the last attempt, which continues the words "the server sent".
  var fault: String?
  /// Whether the last attempt brought an event.
  private var hasEvents = false
  private(set) var lastEventID: [UInt8]?
  private(set) var retryMilliseconds: Int64?
  private var parser: EventStreamParser
  private let limit: Int
  private let bridge: Bridge

  init(
    _ number: Int, _ kind: Kind, _ body: [UInt8], _ message: Message, ids: [MessageID], deadline: Int64,
    _ bridge: Bridge
  ) {
    self.number = number
    self.kind = kind
    self.body = body
    self.message = message
    openIDs = ids
    hasRequests = !ids.isEmpty
    listIDs = message.isToolList ? ids : []
    self.deadline = deadline
    self.bridge = bridge
    limit = bridge.options.longestMessage
    parser = EventStreamParser(limit: limit)
  }

  var isModern: Bool { Revision.isModern(message) }
  var isInitialize: Bool { kind == .message && message.method == "initialize" && !openIDs.isEmpty }
  /// Whether this message initializes the session: a server accepts no other message before it.
  var isFirst: Bool {
    kind == .message && !isModern && (isInitialize || message.method == "notifications/initialized")
  }

  /// Whether the answers go to the host.
  var isOfHost: Bool { kind == .message || kind == .resuming }
  /// Whether the message is sent at once, even if many other exchanges run: a cancellation or an answer, which ends a
  /// request.
  var isUrgent: Bool { message.isCancellation || message.isAnswer && message.method == nil }

  /// Whether a stream has brought the answers to all requests of the message.
  var isAnswered: Bool { hasRequests && openIDs.isEmpty }
  /// Whether an attempt was sent.
  var wasSent: Bool { startedAt != 0 }

  func answer(_ id: MessageID) { openIDs.removeAll { $0 == id } }

  /// The values of a header of the response. A value that repeats the request's token is left out, because it may get
  /// into an error, a log or the URL of a sign-in (R40).
  func header(_ name: String) -> String? {
    let sent = SentSecrets(token.map { [$0.value] } ?? [])
    let values = headers.filter { ASCII.equalsIgnoringCase($0.name, name) }.map { $0.value }
      .filter { !sent.areRepeated(in: $0) }
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// Whether the stream of the last attempt had an event or was open for long, so that the next attempt may follow
  /// soon.
  var hasStreamed: Bool { isStream && (hasEvents || bridge.now - startedAt >= Self.lifeNanoseconds) }

  /// Makes the next attempt continue the stream after the event with this id.
  func resume(after id: [UInt8]?) { lastEventID = id }

  /// Forgets the response before the next attempt.
  func restart() {
    (status, headers, collected, isStream, isTooLarge, hasEvents) = (0, [], [], false, false, false)
    fault = nil
    startedAt = bridge.now
    parser = EventStreamParser(limit: limit)
  }

  // MARK: The response

  func receivedHead(status: Int, headers: [HTTPHeader]) -> BodyNeed {
    self.status = status
    self.headers = headers
    if let nonce = header("DPoP-Nonce"), DPoPNonces.isAcceptable(nonce) { bridge.proofNonce = nonce }
    let isSuccess = (200...299).contains(status)
    isStream = isSuccess && hasType("text/event-stream")
    needsBody = isStream || isSuccess && hasType("application/json")
    return needsBody ? .whole : .beginning
  }

  private func hasType(_ name: String) -> Bool {
    let type = header("Content-Type").map { $0.utf8.prefix(name.utf8.count) }
    return type?.map({ ASCII.lowercased($0) }).elementsEqual(name.utf8) ?? false
  }

  func receivedBody(_ bytes: UnsafeRawBufferPointer) -> BodyReceipt {
    guard !bridge.output.isFull else {
      bridge.hasPostponed = true
      return .postponed
    }
    guard isStream else {
      guard collected.count + bytes.count <= limit else {
        guard needsBody else { return .enough }
        isTooLarge = true
        return .refused
      }
      // Memory is reserved only after a part has arrived, because the server can announce any length.
      if collected.isEmpty, bytes.count > 0, let length = announcedLength {
        collected.reserveCapacity(min(length, Self.firstReserve))
      } else if collected.count < Self.firstReserve, collected.count + bytes.count >= Self.firstReserve,
        let length = announcedLength
      {
        collected.reserveCapacity(length)
      }
      collected += bytes
      return .taken
    }
    let isRead = parser.add(bytes) { line in
      hasEvents = true
      bridge.received(line, on: self)
    }
    if kind == .wholeStream, let endpoint = parser.endpoint, !bridge.takeEndpoint(endpoint) {
      return .refused
    }
    if let id = parser.lastEventID, id != lastEventID { (lastEventID, hasEvents) = (id, true) }
    retryMilliseconds = parser.retryMilliseconds ?? retryMilliseconds
    isTooLarge = !isRead
    return isRead ? .taken : .refused
  }

  /// The length in the response's headers; nil if they have no length, or if the length is above the limit.
  private var announcedLength: Int? {
    header("Content-Length").flatMap { Int($0) }.flatMap { (1...limit).contains($0) ? $0 : nil }
  }

  /// The error message in the body of a refusal; nil if the body has no error message.
  var errorAnswer: Message? {
    guard !isStream, case .single(let message)? = Message.content(of: collected), message.error != nil else {
      return nil
    }
    return message
  }

  /// The body of a response that is not an event stream.
  func takeBody() -> [UInt8] {
    defer { collected = [] }
    return collected
  }

  func ended(_ failure: EnrollError?) {
    running = nil
    deadline += max(0, bridge.now - startedAt)
    bridge.ended(self, failure)
  }
}

extension Exchange {
  /// Why this exchange needs a sign-in.
  var signInNeed: SignInNeed {
    SignInNeed(
      challenge: challenge.flatMap { $0.isEmpty ? nil : $0 }, again: needsMoreScopes || isClientForgotten,
      needsMoreScopes: needsMoreScopes, ended: endedSession)
  }
  /// Whether the server requires another DPoP proof, with its nonce (RFC 9449 §9).
  var lacksNonce: Bool {
    guard let token, BridgeTokens.isBound(token), !hasNonce, header("DPoP-Nonce") != nil else { return false }
    let answer = HTTPResponse(status: status, headers: headers)
    let challenges = (try? AuthenticationChallenge.all(in: answer)) ?? []
    return challenges.contains { $0.parameter("error") == "use_dpop_nonce" }
  }
  var isQueued: Bool { if case .queued = phase { true } else { false } }
  var isHeld: Bool { if case .held = phase { true } else { false } }
  var isWaitingForUser: Bool { if case .awaitingSignIn = phase { true } else { false } }
  var isWaitingForSession: Bool { if case .awaitingSession = phase { true } else { false } }
  var isWaitingForTools: Bool { if case .awaitingTools = phase { true } else { false } }
}
