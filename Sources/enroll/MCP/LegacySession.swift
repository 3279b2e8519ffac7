// Sessions of the protocol up to 2025-11-25: `initialize`, the session's id, the stream of the server's own messages,
// and a new session after the server has lost the old one.

import EnrollMCP
import EnrollRules
import EnrollHost

/// The state that is kept between the requests of a session.
struct LegacySession {
  /// The bytes of the host's `initialize`.
  private(set) var opening: [UInt8] = []
  /// `Mcp-Session-Id`; nil for a server without sessions.
  private(set) var id: String?
  /// Whether the server has lost the session, and no new session has begun yet.
  private(set) var isLost = false
  /// The version that the server chose; nil before its answer.
  private(set) var version: Revision?

  /// A stream of the server's own messages that ended because there was no token.
  struct LostStream {
    var lastEventID: [UInt8]?
  }
  /// The stream to open again; nil if the stream is open, or if the server offers no such stream.
  var lostStream: LostStream?

  /// Resets the session, because the host has sent `initialize`.
  mutating func begin(with opening: [UInt8]) { self = LegacySession(opening: opening) }

  mutating func agree(_ version: String?) { self.version = version.flatMap { Revision($0) } ?? self.version }

  mutating func takeID(_ text: String?) {
    id = text.flatMap { MessageHeaders.isSessionID($0) ? $0 : nil }
    isLost = false
  }

  /// Records that the server no longer knows the session.
  mutating func forgetID() { (id, isLost) = (nil, true) }

  var headers: [HTTPHeader] {
    (id.map { [HTTPHeader("Mcp-Session-Id", $0)] } ?? [])
      + (version.map { [HTTPHeader("MCP-Protocol-Version", $0.text)] } ?? [])
  }

  init() {}

  private init(opening: [UInt8]) { self.opening = opening }
}

extension Bridge {
  /// The largest number of consecutive requests for the rest of a stream that bring no event.
  private static let mostResumptions = 10

  // MARK: The server's own messages

  /// Opens the stream of messages that belong to no request.
  func listen() {
    for earlier in all(where: { $0.kind == .listening }) { drop(earlier) }
    advance(exchange(.listening, [], Message(), ids: []))
  }

  /// Opens the stream that ended because there was no token.
  func listenAgain() {
    guard let lost = legacy.lostStream, legacy.version != nil else { return }
    legacy.lostStream = nil
    let stream = exchange(.listening, [], Message(), ids: [])
    stream.resume(after: lost.lastEventID)
    advance(stream)
  }

  /// Handles the end of the stream: opens it again, unless the server offers no such stream.
  func listeningEnded(_ exchange: Exchange, _ failure: EnrollError?) {
    let isOpen = (200...299).contains(exchange.status) && exchange.isStream
    let mayOpen = failure != nil || exchange.status >= 500 || exchange.status == 429
    guard isOpen || mayOpen || exchange.status == 401 && !exchange.hasFreshToken else {
      return drop(exchange)
    }
    if exchange.status == 401 { return unauthorized(exchange) }
    (exchange.hasFreshToken, exchange.hasNonce) = (false, false)
    rest(exchange)
  }

  /// Waits before the stream is opened again.
  private func rest(_ exchange: Exchange) {
    let asked = retrySeconds(exchange).map { $0 * 1_000 } ?? exchange.retryMilliseconds
    let pause = exchange.pauses.next(wasOfUse: exchange.hasStreamed, asked: asked)
    exchange.phase = .resting(until: now + pause * 1_000_000)
    note("\(exchange.logged): again in \(pause) ms")
  }

  // MARK: Broken streams

  /// Requests the rest of a stream that broke before the answer, if the server's events have ids.
  /// - Returns: false if the rest cannot be requested.
  func resume(_ exchange: Exchange) -> Bool {
    guard exchange.kind == .message || exchange.kind == .resuming, !exchange.isModern,
      exchange.lastEventID != nil, legacy.version != nil,
      exchange.pauses.failures < Self.mostResumptions
    else { return false }
    exchange.kind = .resuming
    rest(exchange)
    // The request for the rest gets a new deadline, and may get a new token and a new nonce, because the token may have
    // expired while the call ran.
    if case .resting(let until) = exchange.phase { exchange.deadline = until + (newDeadline - now) }
    (exchange.hasFreshToken, exchange.hasNonce) = (false, false)
    return true
  }

  // MARK: Lost sessions

  /// Handles a lost session. The server no longer knows the session, so it has not carried out the request.
  func sessionLost(_ exchange: Exchange) {
    guard !exchange.isInNewSession, !legacy.opening.isEmpty, exchange.kind == .message else {
      return refused(exchange)
    }
    exchange.isInNewSession = true
    guard exchange.sessionID == legacy.id else { return advance(exchange) }
    note("the server has lost the session")
    legacy.forgetID()
    for stream in all(where: { $0.kind == .listening }) { drop(stream) }
    awaitSession(exchange)
  }

  /// Makes the exchange wait for a new session. Begins to initialize a new session, unless the bridge is already doing
  /// so.
  func awaitSession(_ exchange: Exchange) {
    exchange.phase = .awaitingSession
    guard !isBeginningAgain else { return }
    guard case .single(let message)? = Message.content(of: legacy.opening) else { return }
    advance(self.exchange(.initializeAgain, legacy.opening, message, ids: message.id.map { [$0] } ?? []))
  }

  func initializedAgain() {
    let body = Array(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.utf8)
    var message = Message()
    message.method = "notifications/initialized"
    advance(exchange(.initializedAgain, body, message, ids: []))
  }

  /// Handles the failure of a message that initializes the session again: the requests that waited for it get the error.
  func sessionFailed(_ exchange: Exchange, _ answer: ErrorAnswer) {
    let what =
      exchange.kind == .initializeAgain
      ? "could not be initialized again" : "was initialized again, but its confirmation failed"
    let words = "The session \(what): \(answer.message) This request was not carried out."
    let answer = ErrorAnswer(answer.reason ?? .refused, words, retryAfter: answer.retryAfter)
    for waiting in all(where: { $0.isWaitingForSession }) { fail(waiting, answer) }
  }

  func sessionIsBack() {
    if !wholeStream.isInUse { listen() }
    for exchange in all(where: { $0.isWaitingForSession }) { advance(exchange) }
  }
}
