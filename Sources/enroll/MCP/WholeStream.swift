// The transport HTTP+SSE of 2024-11-05: one stream (GET) has all messages of the server. Its first event names the
// address to which the host's messages are POSTed. The session ends with the stream.

import EnrollHost
import EnrollMCP
import EnrollRules

/// The state of the HTTP+SSE stream.
struct WholeStream {
  /// Whether the bridge uses this transport.
  var isInUse = false
  /// Where messages are POSTed; nil while there is no stream.
  var endpoint: String?
  /// Whether the `endpoint` event named an address of another server, or text that is not a URL.
  var isEndpointRefused = false
  /// The server's refusal of Streamable HTTP, before the bridge tried HTTP+SSE.
  var refusal: ErrorAnswer?
}

extension Bridge {
  // MARK: The beginning

  /// Whether the exchange has to wait for the address. If so, opens the stream unless it was opened before.
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

  /// Whether the server may support only HTTP+SSE: it refuses `initialize` with an answer that is not a JSON-RPC
  /// error. If so, the bridge tries HTTP+SSE.
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

  /// Reads the address that the `endpoint` event names.
  /// - Returns: false for an address to which messages must not be sent.
  func takeEndpoint(_ data: [UInt8]) -> Bool {
    guard wholeStream.endpoint == nil else { return true }
    wholeStream.endpoint = String(validating: data, as: UTF8.self).flatMap {
      EndpointReference.resolved($0, base: options.url)
    }
    wholeStream.isEndpointRefused = wholeStream.endpoint == nil
    return wholeStream.endpoint != nil
  }

  // MARK: Answers

  /// Makes the exchange wait for its answer on the stream. A message that needs no answer ends in
  /// ``releaseAnswered()``.
  func awaitAnswer(_ exchange: Exchange) {
    exchange.phase = .awaitingAnswer
    exchange.deadline = newDeadline
  }

  /// Ends the exchanges that were answered on the stream, and sends the exchanges that waited for the stream's
  /// address.
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
          "\(words(of: failure, status: stream.status)) Nothing was sent."))
    }
    if stream.status == 401 { return unauthorized(stream) }
    if stream.status == 403, challengesScopes(stream) { return moreScopesNeeded(stream) }
    fail(
      stream,
      wholeStream.refusal
        ?? ErrorAnswer(
          .refused, "\(options.serverName) has no stream of HTTP+SSE (status \(stream.status))."))
  }

  /// Handles a stream that could not be opened: the exchanges that waited for it get the error. The next `initialize`
  /// tries Streamable HTTP first, unless the user chose HTTP+SSE.
  func wholeStreamFailed(_ answer: ErrorAnswer) {
    if options.transport == .auto { wholeStream = WholeStream() }
    for waiting in all(where: { $0.isWaitingForEndpoint }) { fail(waiting, answer) }
  }

  /// Ends the wait for the address if the server has not sent it in time.
  func endWaitForEndpoint() {
    let waiting = all { $0.isWaitingForEndpoint }
    guard waiting.contains(where: { now >= $0.deadline }),
      let stream = streamAtServer
    else { return }
    fail(
      stream,
      wholeStream.refusal
        ?? ErrorAnswer(
          .unreachable, "\(options.serverName) has sent no address for the messages. Nothing was sent."))
  }

  /// The stream, if the deadline for the server applies to it: its request was sent, or it pauses before the next
  /// attempt. A stream that waits for a token or for the user has its own deadline.
  var streamAtServer: Exchange? {
    all { stream in
      guard stream.kind == .wholeStream else { return false }
      if case .resting = stream.phase { return true }
      return stream.running != nil
    }.first
  }

  /// Whether a request of the host waits for the stream, so that a sign-in may begin for it.
  var isStreamAskedFor: Bool {
    all { $0.isWaitingForEndpoint && (!$0.openIDs.isEmpty || $0.isFirst || $0.kind == .initializeAgain) }
      .isEmpty == false
  }
}

extension Exchange {
  var isWaitingForEndpoint: Bool { if case .awaitingEndpoint = phase { true } else { false } }
  /// Whether the server has the message, and answers on the stream of HTTP+SSE.
  var isAtServer: Bool { if case .awaitingAnswer = phase { true } else { false } }
}
