import EnrollJSON
import EnrollMCP
import Expectations
import Testing

@Suite("Errors of the bridge, and snippets for hosts")
struct ErrorAnswerTests {
  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test("an error has the id that asked, words, and what helps")
  func errors() {
    let answer = ErrorAnswer(.signInRequired, "Sign in.", command: "enroll login", retryAfter: 3)
    expect(
      text(answer.line(id: Array("9007199254740993".utf8))),
      is:
        #"{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32010,"message":"Sign in.","data":{"enrollkit":{"reason":"signInRequired","command":"enroll login","retryAfter":3}}}}"#
    )
    expect(
      text(ErrorAnswer.notJSON.line(id: nil)),
      is: #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a line is no JSON-RPC message"}}"#)
    expect(
      text(ErrorAnswer.line(id: Array(#""a""#.utf8), error: Array(#"{"code":-32020}"#.utf8))),
      is: #"{"jsonrpc":"2.0","id":"a","error":{"code":-32020}}"#)
  }

  @Test("each reason has the code that the documentation names")
  func codes() throws {
    let rows: [(ErrorAnswer.Reason, Int64)] = [
      (.signInRequired, -32010), (.signedOut, -32010), (.moreScopes, -32011), (.unreachable, -32012),
      (.refused, -32013), (.tooLarge, -32014), (.storeLocked, -32015), (.storeRefused, -32015),
    ]
    for (reason, code) in rows {
      let json = try JSON.parse(ErrorAnswer(reason, "x").line(id: nil))
      expect(json["error"]?["code"]?.integer, is: code)
    }
  }

  @Test("snippets have the absolute path")
  func snippets() {
    let words = ["/usr/bin/enroll", "mcp", "https://notes.example/mcp"]
    func snippet(_ host: HostSnippet) -> String { host.text(name: "notes", words: words) { $0 } }
    let plain = #"{"notes":{"command":"/usr/bin/enroll","args":["mcp","https://notes.example/mcp"]}}"#
    for host in [HostSnippet.claudeDesktop, .cursor, .windsurf, .gemini] {
      expect(snippet(host), is: #"{"mcpServers":\#(plain)}"#)
    }
    expect(snippet(.zed), is: #"{"context_servers":\#(plain)}"#)
    expect(snippet(.claudeCode), is: "claude mcp add notes -- /usr/bin/enroll mcp https://notes.example/mcp")
    expect(
      snippet(.vscode),
      is:
        #"{"servers":{"notes":{"type":"stdio","command":"/usr/bin/enroll","args":["mcp","https://notes.example/mcp"]}}}"#
    )
    expect(
      snippet(.opencode),
      is:
        #"{"mcp":{"notes":{"type":"local","command":["/usr/bin/enroll","mcp","https://notes.example/mcp"]}}}"#
    )
    expect(
      snippet(.codex),
      is: """
        [mcp_servers."notes"]
        command = "/usr/bin/enroll"
        args = ["mcp","https://notes.example/mcp"]
        """)
  }

  @Test("a server is named after its host")
  func names() {
    for (host, name) in [
      ("mcp.notes.example", "notes"), ("notes.example", "notes"), ("127.0.0.1", "server"),
      ("localhost", "localhost"),
    ] { expect(HostSnippet.name(ofHost: host), is: name) }
  }
}
