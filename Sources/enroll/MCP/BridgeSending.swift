// Sends messages as HTTP requests, in their order, each with its headers and a token. If the server refuses a token,
// the bridge renews it, or the user signs in, with more scopes if necessary.

import EnrollCrypto
import EnrollHost
import EnrollMCP
import EnrollRules

extension Bridge {
  private func seconds(until instant: Int64) -> Int64 { max(1, (instant - now) / 1_000_000_000) }

  // MARK: The token

  /// Sends the exchange, or makes it wait until the session is initialized or until there is a token.
  func advance(_ exchange: Exchange) {
    if exchange.kind == .message, !exchange.isModern, isBeginning(before: exchange) {
      exchange.phase = .held
      return
    }
    // If the session is lost, and nothing is initializing it again, the last attempt to do so has failed.
    if exchange.kind == .message, !exchange.openIDs.isEmpty, !exchange.isModern, !exchange.isInitialize,
      legacy.isLost, !isBeginningAgain
    {
      return awaitSession(exchange)
    }
    if waitsForEndpoint(exchange) { return }
    exchange.phase = .awaitingToken
    let seconds = seconds(until: exchange.deadline)
    if let answer = tokens.request(for: exchange, refused: exchange.refusedToken, seconds: seconds) {
      receive(answer, for: exchange)
    }
  }

  /// Handles the answer to a request for a token.
  func receive(_ answer: TokenAnswer, for exchange: Exchange) {
    switch answer {
    case .token(let token):
      send(exchange, token)
      if exchange.kind == .message { listenAgain() }
    case .none(let ended, let isForgotten):
      exchange.endedSession = ended
      exchange.isClientForgotten = isForgotten
      // The request is sent without a token: if the server needs one, the challenge in its 401 says which token it
      // needs.
      guard exchange.challenge != nil else { return send(exchange, nil) }
      awaitSignIn(exchange)
    case .later(let error, let seconds):
      let instant = now + min(max(1, seconds), 86_400) * 1_000_000_000
      guard exchange.kind == .listening || instant < exchange.deadline else {
        return fail(
          exchange,
          ErrorAnswer(
            .unreachable, "There is no token: \(Shown.message(error.message)). Nothing was sent.",
            retryAfter: seconds))
      }
      exchange.phase = .resting(until: instant)
      note("\(exchange.logged): no token yet, \(error.message)")
    case .refused(let error): fail(exchange, error)
    }
  }

  // MARK: The request

  func send(_ exchange: Exchange, _ token: AccessToken?) {
    exchange.token = token
    exchange.refusedToken = nil
    exchange.challenge = nil
    do throws(EnrollError) {
      switch exchange.kind {
      case .message, .initializeAgain, .initializedAgain, .listingTools: try post(exchange)
      case .listening, .resuming:
        try start(
          exchange, .get, own(exchange, [HTTPHeader("Accept", "text/event-stream")] + resumption(exchange)),
          [])
      case .wholeStream:
        try start(exchange, .get, withOwnHeaders([HTTPHeader("Accept", "text/event-stream")]), [])
      case .closing: try start(exchange, .delete, own(exchange, []), [])
      }
    } catch {
      fail(exchange, ErrorAnswer(.refused, "The request cannot be sent: \(Shown.message(error.message))"))
    }
  }

  private func post(_ exchange: Exchange) throws(EnrollError) {
    var headers = [
      HTTPHeader("Content-Type", "application/json"),
      HTTPHeader("Accept", "application/json, text/event-stream"),
    ]
    if let endpoint = wholeStream.endpoint {
      return try start(exchange, .post, withOwnHeaders(headers), exchange.body, at: endpoint)
    }
    let version =
      exchange.message.metaVersion ?? (legacy.version == nil && legacy.opening.isEmpty ? modernVersion : nil)
    if let version {
      do throws(MessageHeaders.Refusal) {
        headers += try MessageHeaders.modern(exchange.message, version: version)
      } catch {
        return fail(exchange, .invalid(error.message))
      }
      exchange.sessionID = nil
      exchange.mirrored = mirrored(exchange)
      try start(exchange, .post, withOwnHeaders(headers + exchange.mirrored), exchange.body)
    } else {
      try start(exchange, .post, own(exchange, headers), exchange.body)
    }
  }

  /// Adds the headers of the session, and the user's own headers.
  private func own(_ exchange: Exchange, _ headers: [HTTPHeader]) -> [HTTPHeader] {
    guard !exchange.isInitialize, exchange.kind != .initializeAgain else {
      return withOwnHeaders(headers)
    }
    exchange.sessionID = legacy.id
    return withOwnHeaders(headers + legacy.headers)
  }

  private func withOwnHeaders(_ headers: [HTTPHeader]) -> [HTTPHeader] { headers + options.headers }

  private func resumption(_ exchange: Exchange) -> [HTTPHeader] {
    guard let id = exchange.lastEventID, let text = String(validating: id, as: UTF8.self),
      text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    else { return [] }
    return [HTTPHeader("Last-Event-ID", text)]
  }

  // MARK: Refused tokens

  /// Handles a 401: renews the token if the request carried a token; otherwise the user has to sign in.
  func unauthorized(_ exchange: Exchange) {
    guard exchange.kind != .closing else { return drop(exchange) }
    if exchange.lacksNonce {
      exchange.hasNonce = true
      return advance(exchange)
    }
    if let token = exchange.token?.value {
      if exchange.hasFreshToken {
        if exchange.kind != .listening { signIn.rememberRefusal(of: token) }
        return fail(exchange, freshTokenRefused)
      }
      // The server refused this token right after a renewal, so it would refuse another token, too.
      if signIn.isRefused(token) { return fail(exchange, freshTokenRefused) }
    }
    exchange.challenge = usableChallenge(of: exchange)
    exchange.refusedToken = exchange.token?.value
    exchange.hasFreshToken = exchange.token != nil
    if exchange.token != nil { note("\(exchange.logged): the token was refused") }
    advance(exchange)
  }

  /// The challenge of a 401; empty if there is none, or if it cannot be read: then the metadata is searched as for a
  /// 401 without a challenge.
  private func usableChallenge(of exchange: Exchange) -> String {
    guard let header = exchange.header("WWW-Authenticate") else { return "" }
    var fault: String?
    do throws(EnrollError) {
      let challenge = try ResourceChallenge(header: header)
      fault = challenge.metadataURI.flatMap { Self.fault(of: $0) }
    } catch {
      // Two different addresses of metadata are not a matter of spelling: the sign-in fails.
      if error.field == "challenge" { fault = error.message }
    }
    guard let fault else { return header }
    note("\(exchange.logged): WWW-Authenticate is ignored: \(fault)")
    return ""
  }

  /// Why the address of metadata cannot be read as a URL; nil if it can be.
  private static func fault(of address: String) -> String? {
    do throws(StrictURL.Refusal) {
      _ = try StrictURL(address)
      return nil
    } catch {
      return "resource_metadata: \(error.text)"
    }
  }

  private var freshTokenRefused: ErrorAnswer {
    ErrorAnswer(
      .refused,
      "\(options.serverName) refuses a fresh token (401). Its clock may be wrong, or it expects tokens for another resource."
    )
  }

  /// Whether a 403 requires a token with further scopes.
  func challengesScopes(_ exchange: Exchange) -> Bool {
    guard let header = exchange.header("WWW-Authenticate") else { return false }
    return (try? ResourceChallenge(header: header))?.isForMoreScopes ?? false
  }

  /// Handles a 403 with `insufficient_scope`: the user signs in again, for the previous and the missing scopes. Until
  /// then, the session stays in use.
  func moreScopesNeeded(_ exchange: Exchange) {
    if let sent = exchange.token?.value, let stored = tokens.storedToken, stored != sent,
      !exchange.hasSteppedUp
    {
      // A sign-in for another request has replaced the token in the meantime: the bridge tries the new token.
      return advance(exchange)
    }
    exchange.challenge = exchange.header("WWW-Authenticate")
    exchange.needsMoreScopes = true
    // If the server named no further scopes, another sign-in would request the same scopes.
    guard !exchange.signInNeed.scopes.isEmpty else {
      return fail(exchange, signIn.scopesUnnamed(exchange.signInNeed))
    }
    if let token = exchange.token?.value {
      let scopes = exchange.signInNeed.scopes
      if exchange.hasSteppedUp { signIn.rememberRefusal(of: token, for: scopes) }
      guard !signIn.isRefused(token, for: scopes) else {
        return fail(exchange, signIn.scopesRefused(exchange.signInNeed))
      }
    }
    awaitSignIn(exchange)
  }

  // MARK: The sign-in

  private func awaitSignIn(_ exchange: Exchange) {
    // Neither the stream of the server's own messages nor the end of the session may cause a sign-in.
    if exchange.kind == .listening { legacy.lostStream = .init(lastEventID: exchange.lastEventID) }
    if exchange.kind == .listening || exchange.kind == .closing { return drop(exchange) }
    // Only requests of the host, and the messages that initialize its session, may open the browser.
    let isAsked = exchange.kind == .message && (!exchange.openIDs.isEmpty || exchange.isFirst)
    guard isAsked || exchange.kind == .initializeAgain || exchange.kind == .wholeStream && isStreamAskedFor
    else {
      return fail(exchange, signIn.required(opened: false, exchange.signInNeed))
    }
    exchange.phase = .awaitingSignIn
    (exchange.tokenBefore, exchange.userBefore) = (tokens.storedToken, tokens.storedUser)
    note("\(exchange.logged): waits for a sign-in\(exchange.needsMoreScopes ? " with further scopes" : "")")
    if let error = signIn.begin(exchange.signInNeed) { fail(exchange, error) }
  }

  /// Checks whether the sign-in has ended, and then sends or fails the exchanges that wait for it.
  func lookAtSignIn() {
    let waiting = all { $0.isWaitingForUser }
    guard let first = waiting.first, now >= nextLook else { return }
    nextLook = now + (signIn.hasProcess ? Self.tick : Self.slowTick)
    let progress = signIn.progress(first.signInNeed) {
      tokens.reopen()
      return tokens.storedToken.map { $0 != first.tokenBefore } ?? false
    }
    switch progress {
    case .settled:
      note("the sign-in has ended")
      let asked = signIn.askedScopes
      signIn.end()
      let user = tokens.storedUser
      for exchange in waiting {
        // A request of one user must not be sent with the token of another user.
        if let before = exchange.userBefore, let user, before != user {
          fail(exchange, signIn.otherUser(exchange.signInNeed))
          continue
        }
        exchange.hasFreshToken = true
        // The sign-in may have been for the scopes of another request, so the scopes are compared.
        exchange.hasSteppedUp =
          exchange.needsMoreScopes && (asked?.isSuperset(of: exchange.signInNeed.scopes) ?? true)
        exchange.refusedToken = nil
        advance(exchange)
      }
      // The stream of the server's own messages has the old token, so it is opened again with the new token.
      if let stream = all(where: { $0.kind == .listening }).first {
        legacy.lostStream = .init(lastEventID: stream.lastEventID)
        drop(stream)
      }
      listenAgain()
    case .failed(let answer):
      note("the sign-in has failed")
      signIn.end()
      for exchange in waiting { fail(exchange, answer) }
    case .waiting:
      for exchange in waiting where now >= exchange.deadline {
        fail(exchange, signIn.required(opened: signIn.hasProcess, exchange.signInNeed))
      }
      if all(where: { $0.isWaitingForUser }).isEmpty { signIn.end() }
    }
  }
}
