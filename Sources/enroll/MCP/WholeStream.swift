// The transport HTTP+SSE of 2024-11-05: one stream (GET) has every message of the server. Its first event names the address
// to which the host's messages are POSTed. The session is the stream: with it, the session is lost.

import EnrollHost
import EnrollMCP
import EnrollRules

/// What is known of the stream.
struct WholeStream {
  /// Whether the server has this transport.
  var isInUse = false
  /// Where messages are POSTed; nil while there is no stream.
  var endpoint: String?
  /// Whether the event named an address at another server.
  var isEndpointRefused = false
  /// What the server said to Streamable HTTP before.
  var refusal: ErrorAnswer?
}

extension Bridge {
  // MARK: The beginning

  /// Whether the message waits for the address, which is asked for.
  func waitsForEndpoint(_ exchange: Exchange) -> Bool {
    if options.transport == .sse { wholeStream.isInUse = true }
    guard wholeStream.isInUse, wholeStream.endpoint == nil, exchange.kind != .wholeStream,
      exchange.kind != .closing
    else { return false }
    exchange.phase = .awaitingEndpoint
    if all(where: { $0.kind == .wholeStream }).isEmpty {
      wholeStream.isEndpointRefused = false
      advance(self.exchange(.wholeStream, [], Message(), ids: []))
    }
    return true
  }

  /// Whether the server may have the earlier transport: it does not take `initialize`, and its refusal is no answer.
  func triesWholeStream(_ exchange: Exchange) -> Bool {
    guard options.transport == .auto, exchange.isInitialize, !wholeStream.isInUse,
      [400, 404, 405].contains(exchange.status), exchange.errorAnswer == nil
    else { return false }
    wholeStream.refusal = ErrorAnswer(.refused, words(of: exchange, exchange.status))
    wholeStream.isInUse = true
    note("\(exchange.logged): tries HTTP+SSE")
    advance(exchange)
    return true
  }

  /// - Returns: false for an address that must not get the messages.
  func takeEndpoint(_ data: [UInt8]) -> Bool {
    guard wholeStream.endpoint == nil else { return true }
    wholeStream.endpoint = String(validating: data, as: UTF8.self).flatMap {
      EndpointReference.resolved($0, base: options.url)
    }
    wholeStream.isEndpointRefused = wholeStream.endpoint == nil
    return wholeStream.endpoint != nil
  }

  // MARK: Answers

  /// The exchange whose request is answered.
  func asker(of content: Message.Content) -> Exchange? {
    guard case .single(let message) = content, message.method == nil, let id = message.id else { return nil }
    return all { $0.openIDs.contains(id) && ($0.isOfHost || $0.kind == .initializeAgain) }.first
  }

  /// Waits for the answer on the stream. A message that gets none has ended.
  func awaitAnswer(_ exchange: Exchange) {
    exchange.phase = .awaitingAnswer
    exchange.deadline = newDeadline
  }

  /// Ends what was answered on the stream, and sends what has waited for it.
  func releaseAnswered() {
    guard wholeStream.endpoint != nil else { return }
    for exchange in all(where: { $0.isAtServer && $0.openIDs.isEmpty }) { finish(exchange) }
    for exchange in all(where: { $0.isWaitingForEndpoint }) { advance(exchange) }
  }

  // MARK: The end

  func wholeStreamEnded(_ stream: Exchange, _ failure: EnrollError?) {
    let wasOpen = wholeStream.endpoint != nil
    wholeStream.endpoint = nil
    if wasOpen {
      drop(stream)
      let lost = all { $0.isAtServer || $0.running != nil && $0.kind != .wholeStream }
      if !legacy.opening.isEmpty { legacy.forgetID() }
      for exchange in lost { fail(exchange, stream.isTooLarge ? tooLarge : brokenStream) }
      return
    }
    if wholeStream.isEndpointRefused {
      return fail(
        stream,
        ErrorAnswer(
          .refused,
          "\(options.serverName) names an address for the messages that is not its own, or that cannot be read."
        )
      )
    }
    if let failure {
      return fail(
        stream,
        ErrorAnswer(
          .unreachable,
          "\(options.serverName) does not answer (\(Shown.message(failure.message))). Nothing was sent."))
    }
    if stream.status == 401 { return unauthorized(stream) }
    if stream.status == 403, challengesScopes(stream) { return moreScopesNeeded(stream) }
    fail(
      stream,
      wholeStream.refusal
        ?? ErrorAnswer(
          .refused, "\(options.serverName) has no stream of HTTP+SSE (status \(stream.status))."))
  }

  /// There is no stream: what has waited for it gets the error, and the next `initialize` begins anew.
  func wholeStreamFailed(_ answer: ErrorAnswer) {
    if options.transport == .auto { wholeStream = WholeStream() }
    for waiting in all(where: { $0.isWaitingForEndpoint }) { fail(waiting, answer) }
  }

  /// Ends the wait for an address that the server does not send.
  func endWaitForEndpoint() {
    let waiting = all { $0.isWaitingForEndpoint }
    guard waiting.contains(where: { now >= $0.deadline }),
      let stream = all(where: { $0.kind == .wholeStream && $0.running != nil }).first
    else { return }
    fail(
      stream,
      wholeStream.refusal
        ?? ErrorAnswer(
          .unreachable, "\(options.serverName) has sent no address for the messages. Nothing was sent."))
  }

  /// Whether a request of the host waits for the stream, so that a sign-in may begin for it.
  var isStreamAskedFor: Bool {
    all { $0.isWaitingForEndpoint && (!$0.openIDs.isEmpty || $0.isFirst || $0.kind == .initializeAgain) }
      .isEmpty == false
  }
}

extension Exchange {
  var isWaitingForEndpoint: Bool { if case .awaitingEndpoint = phase { true } else { false } }
  /// Whether the server has it, and answers on the stream of HTTP+SSE.
  var isAtServer: Bool { if case .awaitingAnswer = phase { true } else { false } }
}
