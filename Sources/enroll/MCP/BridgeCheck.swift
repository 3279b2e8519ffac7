// `enroll mcp --check`: the bridge with this program as its host. The program connects, signs in if needed, and reports
// what the server offers.

import EnrollHost
import EnrollJSON
import EnrollMCP
import EnrollRules

struct BridgeCheck {
  private let bridge: Bridge
  private var session: CommandSession { bridge.session }

  init(_ bridge: Bridge) { self.bridge = bridge }

  func perform() throws(Failure) -> CommandStatus {
    defer { bridge.close() }
    let version = "2025-11-25"
    let hello = try ask(
      1, "initialize",
      .object([
        ("protocolVersion", .string(version)), ("capabilities", .object([])),
        (
          "clientInfo",
          .object([("name", .string("enroll")), ("version", .string(LibraryVersion.string))])
        ),
      ]))
    send(.object([("jsonrpc", .string("2.0")), ("method", .string("notifications/initialized"))]))
    report(hello, hello["capabilities"]?["tools"] == nil ? [] : try tools())
    return .done
  }

  private static let mostPages = 1_000

  /// The names of all tools, from all pages of the server's list (MCP 2025-11-25, Pagination).
  private func tools() throws(Failure) -> [String] {
    var names: [String] = []
    var params = JSON.object([])
    for page in 0..<Self.mostPages {
      let answer = try ask(Int64(2 + page), "tools/list", params)
      guard let tools = answer["tools"]?.array else {
        throw Failure(.refused, "\(bridge.options.serverName) answered tools/list without an array \"tools\"")
      }
      for tool in tools {
        guard let name = tool["name"]?.string else {
          throw Failure(.refused, "\(bridge.options.serverName) has a tool without a \"name\"")
        }
        names.append(name)
      }
      guard let cursor = answer["nextCursor"]?.string else { return names }
      guard params["cursor"]?.string != cursor else {
        throw Failure(.refused, "\(bridge.options.serverName) repeats a page of tools")
      }
      params = .object([("cursor", .string(cursor))])
    }
    throw Failure(.refused, "\(bridge.options.serverName) has more than \(Self.mostPages) pages of tools")
  }

  private func report(_ hello: JSON, _ names: [String]) {
    let hasSession = bridge.tokens.storedToken != nil
    guard !session.isJSON else {
      return Output.json(
        .object([
          ("server", hello["serverInfo"]), ("protocolVersion", hello["protocolVersion"]),
          ("capabilities", hello["capabilities"]), ("signedIn", .bool(hasSession)),
          ("tools", .array(names.map { .string($0) })),
        ]))
    }
    let name = hello["serverInfo"]?["name"]?.string ?? bridge.options.serverName
    Output.line("server    \(Shown.text(name))")
    Output.line("protocol  \(Shown.text(hello["protocolVersion"]?.string ?? "unknown"))")
    Output.line("signed in \(hasSession ? "yes" : "no: the server asked for no token")")
    Output.line("tools     \(names.isEmpty ? "none" : names.map { Shown.text($0) }.joined(separator: ", "))")
  }

  private func send(_ message: JSON) { bridge.offer((message.serialized() + [0x0A])[...]) }

  /// Sends a request, and waits for its answer.
  /// - Throws: if the answer is an error of the server or of the bridge.
  private func ask(_ id: Int64, _ method: String, _ params: JSON) throws(Failure) -> JSON {
    send(
      .object([
        ("jsonrpc", .string("2.0")), ("id", .integer(id)), ("method", .string(method)), ("params", params),
      ]))
    var end = bridge.newDeadline
    while !session.waits.isInterrupted {
      while let line = bridge.output.takeLine() {
        guard let answer = try? JSON.parse(line) else {
          if case .single(let message)? = Message.content(of: line), message.method != nil { continue }
          throw Failure(.refused, "\(bridge.options.serverName) answered with JSON that cannot be read")
        }
        guard answer["id"]?.integer == id, answer["method"] == nil else { continue }
        if let result = answer["result"] { return result }
        throw failure(answer["error"] ?? .null)
      }
      if !bridge.all(where: { $0.isWaitingForUser }).isEmpty { end = bridge.newDeadline }
      guard bridge.now < end else {
        throw Failure(
          .unreachable,
          "\(bridge.options.serverName) has not answered \(method) within \(bridge.options.waitSeconds) seconds",
          advice: "--wait sets how long the check waits.")
      }
      bridge.step(atMost: 1_000)
    }
    throw Failure(.interrupted, "stopped")
  }

  private func failure(_ error: JSON) -> Failure {
    let words = error["message"]?.string ?? "the server refused the request"
    let known = error["data"]?["enrollkit"]
    let status: CommandStatus =
      switch known?["reason"]?.string.flatMap({ ErrorAnswer.Reason(rawValue: $0) }) {
      case .signInRequired, .signedOut, .moreScopes: .signInNeeded
      case .unreachable: .unreachable
      case .refused, .tooLarge, nil: .refused
      case .storeLocked: .storeLocked
      case .storeRefused: .storeUnusable
      }
    return Failure(status, words, advice: known?["command"]?.string.map { "Run `\($0)`." })
  }
}
