// The server's tools. The bridge repeats their arguments in headers (2026-07-28), and leaves some tools out of the
// list.

import EnrollMCP
import EnrollRules

extension Bridge {
  /// The maximum number of pages of one list that the bridge itself requests.
  private static let mostPages = 50

  // MARK: The host's lists

  /// The server's answer as the host gets it: without the tools that are left out.
  func shown(_ line: [UInt8], on exchange: Exchange) -> [UInt8] {
    guard !exchange.listIDs.isEmpty, exchange.isModern || !options.hiddenTools.isEmpty else { return line }
    return learned(line, on: exchange).line
  }

  private func learned(_ line: [UInt8], on exchange: Exchange) -> ToolList {
    let list = ToolList(line, answering: exchange.listIDs, checksMarks: exchange.isModern) { [options] in
      options.hides($0)
    }
    guard exchange.isModern else { return list }
    knownTools.learn(list)
    for fault in list.faults where warnedTools.count < 1_000 && warnedTools.insert(fault.tool).inserted {
      note("the tool \(fault.tool) is left out: \(fault.reason)")
      Terminal.errors.say("enroll mcp: the tool \(Shown.text(fault.tool)) is left out: \(fault.reason).")
    }
    return list
  }

  /// The error for a message that calls a tool that the user hides, or that may call one; nil for another message.
  func hiddenTool(_ message: Message) -> ErrorAnswer? {
    guard !options.hiddenTools.isEmpty else { return nil }
    // The server may read another method or tool than the bridge.
    if message.isAmbiguous {
      return .invalid("with --hide-tool, method, params and name may occur once, and in these letters only")
    }
    guard message.method == "tools/call", let name = message.name, options.hides(name) else { return nil }
    return .hiddenTool(Shown.text(name))
  }

  // MARK: Headers

  /// The headers in which arguments of a call are repeated.
  func mirrored(_ exchange: Exchange) -> [HTTPHeader] {
    guard exchange.kind == .message, exchange.message.isToolCall, let name = exchange.message.name else {
      return []
    }
    return MirroredArgument.headers(knownTools[name], of: exchange.body)
  }

  /// Whether the server has refused a tool call because of its headers. If so, the list of tools may show which headers
  /// the call needs.
  func needsTools(_ exchange: Exchange, _ answer: Message) -> Bool {
    exchange.status == 400 && answer.errorCode == Message.headerMismatch && exchange.kind == .message
      && exchange.isModern && exchange.message.isToolCall && exchange.refusal == nil
  }

  /// Requests the list of tools for a call that the server has refused, and then sends the call once more. The server
  /// has not carried out the call.
  func listTools(for call: Exchange, refusal: [UInt8]) {
    call.refusal = refusal
    call.phase = .awaitingTools
    guard all(where: { $0.kind == .listingTools }).isEmpty else { return }
    list(call.body, version: call.message.metaVersion, page: nil, number: 1)
  }

  private func list(_ earlier: [UInt8], version: String?, page: [UInt8]?, number: Int) {
    var message = Message()
    let id = MessageID(Array("\"enroll-tools-\(number)\"".utf8))
    (message.method, message.id, message.metaVersion) = ("tools/list", id, version)
    let body = ToolList.request(id: id.bytes, after: earlier, page: page)
    let listing = exchange(.listingTools, body, message, ids: [id])
    listing.page = number
    advance(listing)
  }

  /// Handles one page of the list that the bridge has requested.
  func takePage(_ line: [UInt8], on listing: Exchange) {
    listing.nextPage = learned(line, on: listing).nextCursor
  }

  /// Handles the end of a request for a page, or its failure. After the last page, the calls that wait for the list
  /// are sent.
  func toolsListed(_ listing: Exchange) {
    if let page = listing.nextPage, listing.page < Self.mostPages {
      return list(
        listing.body, version: listing.message.metaVersion, page: page, number: listing.page + 1)
    }
    for call in all(where: { $0.isWaitingForTools }) {
      // The list has not changed the headers, and the server would refuse the same headers again.
      guard mirrored(call) != call.mirrored else {
        output.add(call.refusal ?? [])
        drop(call)
        continue
      }
      advance(call)
    }
  }
}
