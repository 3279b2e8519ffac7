// Handles the messages that the host sends to the server, and the messages that the server sends to the host.

import EnrollHost
import EnrollMCP
import EnrollRules

extension Bridge {
  // MARK: From the host

  func receive(_ line: HostLines.Line) {
    switch line {
    case .tooLong(let id):
      output.add(
        ErrorAnswer(.tooLarge, "The message is larger than \(longestShown).").line(id: id))
    case .whole(let bytes):
      switch Message.content(of: bytes) {
      case nil: output.add(ErrorAnswer.notJSON.line(id: IDFinder.requestID(in: bytes)))
      case .single(let message)?: receive(message, bytes)
      case .batch(let messages)?: receive(batch: messages, bytes)
      }
    }
  }

  /// The limit of a message, as text for error messages.
  var longestShown: String {
    let bytes = options.longestMessage
    return bytes >= 1 << 20 && bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
  }

  private func receive(_ message: Message, _ bytes: [UInt8]) {
    if message.isCancellation, cancel(message) { return }
    if let version = message.metaVersion { modernVersion = version }
    // Since 2026-07-28 a server sends no requests, so an answer from the host belongs to no request, and is dropped.
    if message.method == nil, modernVersion != nil, legacy.version == nil { return }
    if let id = message.id, message.isRequest, exchange(of: id) != nil {
      return output.add(ErrorAnswer.invalid("a request with this id is in progress").line(id: id.bytes))
    }
    if let answer = hiddenTool(message) {
      if let id = message.id { output.add(answer.line(id: id.bytes)) }
      return
    }
    if message.method == "initialize", message.isRequest { legacy.begin(with: bytes) }
    begin(exchange(.message, bytes, message, ids: message.isRequest ? message.id.map { [$0] } ?? [] : []))
  }

  private func receive(batch: [Message], _ bytes: [UInt8]) {
    guard legacy.version?.hasBatches ?? false, !batch.isEmpty else {
      return output.add(
        ErrorAnswer.invalid("only the protocol of 2025-03-26 has batches of messages").line(id: nil))
    }
    let ids = batch.filter { $0.isRequest }.compactMap { $0.id }
    if let answer = batch.lazy.compactMap({ self.hiddenTool($0) }).first {
      for id in ids { output.add(answer.line(id: id.bytes)) }
      return
    }
    let exchange = exchange(.message, bytes, Message(), ids: ids)
    exchange.listIDs = batch.filter { $0.isToolList }.compactMap { $0.id }
    begin(exchange)
  }

  /// Handles a cancellation that the host has sent.
  /// - Returns: false if the cancellation has to be sent to the server.
  private func cancel(_ message: Message) -> Bool {
    guard let id = message.cancelledID, let cancelled = exchange(of: id) else {
      return modernVersion != nil && legacy.version == nil
    }
    cancelled.isCancelled = true
    note("\(cancelled.logged): cancelled by the host")
    // Since 2026-07-28 a request is cancelled by closing its stream; a server of an earlier version gets the host's
    // cancellation. A request that was not sent yet is just dropped.
    guard !cancelled.isModern, cancelled.running != nil || cancelled.kind == .resuming || cancelled.isAtServer
    else {
      drop(cancelled)
      return true
    }
    return false
  }

  // MARK: Ends of exchanges

  /// Handles the end of an exchange: its response is complete, or the connection failed.
  func ended(_ exchange: Exchange, _ failure: EnrollError?) {
    note(
      "\(exchange.logged): \(failure.map { "failed, " + $0.message } ?? "status \(exchange.status)") after "
        + "\((now - exchange.startedAt) / 1_000_000) ms")
    if exchange.isCancelled { return drop(exchange) }
    // If another stream has brought the answer, it does not matter that this one failed.
    if exchange.isOfHost, exchange.isAnswered, failure != nil || !(200...299).contains(exchange.status) {
      return finish(exchange)
    }
    switch exchange.kind {
    case .closing: return drop(exchange)
    case .wholeStream: return wholeStreamEnded(exchange, failure)
    case .listening: return listeningEnded(exchange, failure)
    case .message, .initializeAgain, .initializedAgain, .resuming, .listingTools: break
    }
    if exchange.isTooLarge { return fail(exchange, tooLarge) }
    if let failure { return connectionFailed(exchange, failure) }
    switch exchange.status {
    case 200...299:
      acceptedToken = exchange.token
      succeeded(exchange)
    case 401: unauthorized(exchange)
    case 403 where challengesScopes(exchange): moreScopesNeeded(exchange)
    case 404 where exchange.sessionID != nil && exchange.kind != .resuming && tellsOfLostSession(exchange):
      sessionLost(exchange)
    default: refused(exchange)
    }
  }

  /// Whether a 404 means that the server does not know the session. Otherwise it is the server's answer to the
  /// request.
  private func tellsOfLostSession(_ exchange: Exchange) -> Bool {
    exchange.errorAnswer?.tellsOfLostSession(to: exchange.openIDs) ?? true
  }

  private func succeeded(_ exchange: Exchange) {
    if !exchange.isStream, !exchange.collected.isEmpty { received(exchange.takeBody(), on: exchange) }
    if wholeStream.endpoint != nil { return awaitAnswer(exchange) }
    guard exchange.openIDs.isEmpty else { return endedWithoutAnswer(exchange) }
    finish(exchange)
  }

  /// Handles the end of a response that did not answer every request, whether or not it was an event stream.
  private func endedWithoutAnswer(_ exchange: Exchange) {
    if exchange.isStream, resume(exchange) { return }
    guard let fault = exchange.fault else {
      guard !exchange.isStream else { return fail(exchange, brokenStream) }
      return fail(
        exchange,
        ErrorAnswer(.refused, "\(options.serverName) sent status \(exchange.status) without an answer."))
    }
    fail(exchange, unreadable(fault, for: exchange))
  }

  /// The error for a response that is no answer to the request.
  func unreadable(_ fault: String, for exchange: Exchange) -> ErrorAnswer {
    ErrorAnswer(.refused, "\(options.serverName) sent \(fault).\(doubt(about: exchange))")
  }

  /// A warning for the host if a call was sent and has no usable answer; empty if the call can be repeated safely.
  private func doubt(about exchange: Exchange) -> String {
    exchange.isOfHost && !exchange.message.isRepeatable ? " The call may have been carried out." : ""
  }

  var tooLarge: ErrorAnswer { ErrorAnswer(.tooLarge, "The answer is larger than \(longestShown).") }

  var brokenStream: ErrorAnswer {
    ErrorAnswer(
      .unreachable,
      "The connection to \(options.serverName) broke before the answer; the call may have been carried out.")
  }

  private func connectionFailed(_ exchange: Exchange, _ failure: EnrollError) {
    if wholeStream.endpoint != nil, exchange.kind == .message, !failure.isUnsent {
      // If the server got the message, its answer comes on the stream, which is still open.
      return awaitAnswer(exchange)
    }
    if exchange.isStream || exchange.kind == .resuming {
      if exchange.openIDs.isEmpty { return finish(exchange) }
      if resume(exchange) { return }
    }
    if exchange.status == 0, !exchange.isRepeated, !failure.isUnsent,
      exchange.message.isRepeatable || exchange.kind != .message
    {
      exchange.isRepeated = true
      return advance(exchange)
    }
    let more = failure.isUnsent ? " Nothing was sent." : doubt(about: exchange)
    fail(exchange, ErrorAnswer(.unreachable, words(of: failure, status: exchange.status) + more))
  }

  /// The message for the host about a failed connection.
  /// - Parameter status: the status of the response; 0 if there was none.
  func words(of failure: EnrollError, status: Int) -> String {
    let what =
      switch failure.code {
      case .responseInvalid: "The answer of \(options.serverName) cannot be used"
      case .tls: "There is no secure connection to \(options.serverName)"
      default:
        status == 0
          ? "\(options.serverName) does not answer" : "The answer of \(options.serverName) broke off"
      }
    return "\(what) (\(Shown.message(failure.message)))."
  }

  /// Handles an answer with an error status: sends the request again later, or answers the request with an error.
  func refused(_ exchange: Exchange) {
    if let seconds = retrySeconds(exchange), now + seconds * 1_000_000_000 < exchange.deadline {
      exchange.phase = .resting(until: now + seconds * 1_000_000_000)
      return
    }
    if triesWholeStream(exchange) { return }
    // The server's error is about the rest of the stream, not about the call, so it is not the answer to the call.
    if exchange.kind == .resuming { return fail(exchange, brokenStream) }
    let (status, retryAfter) = (
      exchange.status, exchange.header("Retry-After").flatMap { UInt32($0) }.map { Int64($0) }
    )
    // The server's error has one id. The other requests of a batch get the same error with their own ids.
    if let message = exchange.errorAnswer, let error = message.error, exchange.isOfHost {
      var line = exchange.takeBody()
      OneLine.made(of: &line)
      let answers = exchange.openIDs.map { id in
        message.id == id && message.answerFault == nil ? line : Self.line(id, error)
      }
      if needsTools(exchange, message), let answer = answers.first {
        return listTools(for: exchange, refusal: answer)
      }
      for answer in answers { output.add(answer) }
      return drop(exchange)
    }
    fail(
      exchange,
      ErrorAnswer(.refused, words(of: exchange, status), retryAfter: retryAfter))
  }

  /// The number of seconds after which the request may be sent again (`Retry-After`); nil if it may not be sent
  /// again.
  func retrySeconds(_ exchange: Exchange) -> Int64? {
    guard exchange.status == 429 || exchange.status == 503, let text = exchange.header("Retry-After") else {
      return nil
    }
    let answer = HTTPResponse(status: exchange.status, headers: exchange.headers)
    return RetryAfter.seconds(of: answer) ?? (ASCII.equals(text, "0") ? 1 : nil)
  }

  /// The message for the host about a refusal: the status, and the error of RFC 6750.
  func words(of exchange: Exchange, _ status: Int) -> String {
    var words = "\(options.serverName) refused the request with status \(status)"
    if (300...399).contains(status), let location = exchange.header("Location") {
      // A query may have secrets.
      let address = String(location.prefix { $0 != "?" && $0 != "#" })
      return words + ": it is at another address now (\(Shown.text(address))). Use that address."
    }
    if status == 404, exchange.sessionID != nil { words += ": it does not know the session" }
    if let header = exchange.header("WWW-Authenticate") {
      let answer = HTTPResponse(status: status, headers: [HTTPHeader("WWW-Authenticate", header)])
      let challenges = (try? AuthenticationChallenge.all(in: answer)) ?? []
      let reason = challenges.lazy.compactMap {
        $0.parameter("error_description") ?? $0.parameter("error")
      }.first
      if let reason { words += ": " + PrintableText.bounded(reason, maximumBytes: 200) }
    }
    return words + "."
  }

  /// Removes an exchange that has ended; after a success, starts the exchanges that depend on it.
  func finish(_ exchange: Exchange) {
    let isAccepted = (200...299).contains(exchange.status) || exchange.isAtServer
    let message = exchange.message
    drop(exchange)
    guard isAccepted else { return }
    if exchange.kind == .message, message.method == "notifications/initialized", !wholeStream.isInUse {
      listen()
    }
    if exchange.kind == .message, message.isCancellation, let id = message.cancelledID,
      let cancelled = self.exchange(of: id), cancelled.isCancelled
    {
      drop(cancelled)
    }
    if exchange.kind == .listingTools { toolsListed(exchange) }
    if exchange.kind == .initializeAgain { initializedAgain() }
    if exchange.kind == .initializedAgain { sessionIsBack() }
  }
}
