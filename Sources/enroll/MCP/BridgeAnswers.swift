// Handles the messages of the server. Each request of the host gets exactly one answer, whichever stream brings it: an
// answer that comes again, or that belongs to no request, is dropped. A message that hosts cannot read is refused.

import EnrollMCP
import EnrollRules

extension Bridge {
  /// Handles a message of the server, or an array of messages.
  /// - Parameter body: the data of an event, or the body of another response.
  func received(_ body: [UInt8], on stream: Exchange) {
    var line = body
    var answered: [Exchange] = []
    switch Message.content(of: body) {
    case nil:
      stream.fault = "an answer that is no JSON-RPC"
      return
    case .single(let message)?:
      if !passes(message, on: stream, &answered) { line = [] }
    case .batch(let messages)?:
      guard legacy.version?.hasBatches ?? false else { return refuse(messages, on: stream) }
      let wanted = messages.filter { passes($0, on: stream, &answered) }
      if wanted.count < messages.count { line = Self.array(of: wanted, in: body) }
    }
    for listing in answered where listing.kind == .listingTools { takePage(body, on: listing) }
    if !line.isEmpty {
      OneLine.made(of: &line)
      for exchange in answered { line = shown(line, on: exchange) }
      output.add(line)
    }
    for exchange in answered { settle(exchange, on: stream) }
  }

  /// An array of these messages with their own bytes; empty if there are no messages.
  private static func array(of messages: [Message], in body: [UInt8]) -> [UInt8] {
    guard !messages.isEmpty else { return [] }
    return [UInt8(ascii: "[")] + messages.map { body[$0.place] }.joined(separator: [UInt8(ascii: ",")])
      + [UInt8(ascii: "]")]
  }

  /// Whether the host gets this message. Closes the request that the message answers.
  /// - Parameter answered: gets the exchange of that request.
  private func passes(_ message: Message, on stream: Exchange, _ answered: inout [Exchange]) -> Bool {
    let isForHost =
      stream.kind != .initializeAgain && stream.kind != .listingTools && !stream.isCancelled
    guard message.method == nil || message.isAnswer else { return isForHost }
    guard let id = message.id else {
      guard let error = message.error, message.answerFault == nil else {
        stream.fault = message.answerFault ?? "an answer without an id"
        return false
      }
      guard stream.isOfHost, !stream.isStream, !stream.openIDs.isEmpty else { return isForHost }
      // The response has nothing but this error, so the error is the answer.
      for id in stream.openIDs { answer(stream, id, Self.line(id, error), on: stream) }
      return false
    }
    guard let asker = asker(of: id, on: stream) else {
      note("\(stream.logged): an answer to no open request is dropped")
      stream.fault = "an answer to another request, and none to this one"
      return false
    }
    if let fault = message.answerFault {
      refuse(asker, id, fault, on: stream)
      return false
    }
    if asker.isInitialize || asker.kind == .initializeAgain {
      legacy.agree(message.agreedVersion)
      legacy.takeID(asker.header("Mcp-Session-Id"))
    }
    asker.answer(id)
    answered.append(asker)
    return asker.isOfHost && !asker.isCancelled
  }

  /// The exchange whose request has this id, and has no answer yet; nil if there is no such exchange.
  private func asker(of id: MessageID, on stream: Exchange) -> Exchange? {
    if stream.openIDs.contains(id) { return stream }
    return all {
      $0.openIDs.contains(id) && $0.wasSent
        && ($0.isOfHost || stream.kind == .wholeStream && $0.kind == .initializeAgain)
    }.first
  }

  /// Removes an exchange that another stream has answered, if it would be sent again.
  private func settle(_ exchange: Exchange, on stream: Exchange) {
    guard exchange !== stream, exchange.isOfHost, exchange.isAnswered, exchange.running == nil,
      !exchange.isAtServer
    else { return }
    drop(exchange)
  }

  // MARK: Messages that hosts cannot read

  private func refuse(_ messages: [Message], on stream: Exchange) {
    let fault = "an array of messages, which this version of the protocol does not have"
    stream.fault = fault
    for message in messages where message.method == nil {
      if let id = message.id, let asker = asker(of: id, on: stream) { refuse(asker, id, fault, on: stream) }
    }
  }

  private func refuse(_ asker: Exchange, _ id: MessageID, _ fault: String, on stream: Exchange) {
    note("\(asker.logged): the server sent \(fault)")
    asker.fault = fault
    if asker.isOfHost {
      return answer(asker, id, unreadable(fault, for: asker).line(id: id.bytes), on: stream)
    }
    // The end of the bridge's own request reports the fault, unless the answer was awaited on this stream.
    if asker.isAtServer { fail(asker, unreadable(fault, for: asker)) }
  }

  /// Answers a request of the host in place of the server.
  private func answer(_ asker: Exchange, _ id: MessageID, _ line: [UInt8], on stream: Exchange) {
    asker.answer(id)
    if !asker.isCancelled { output.add(line) }
    settle(asker, on: stream)
  }

  /// The server's error as the answer to the request with this id.
  static func line(_ id: MessageID, _ error: [UInt8]) -> [UInt8] {
    ErrorAnswer.line(id: id.bytes, error: error)
  }
}
