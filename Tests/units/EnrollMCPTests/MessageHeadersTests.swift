import EnrollMCP
import EnrollRules
import Expectations
import Testing

@Suite("Headers of a message")
struct MessageHeadersTests {
  private func headers(_ text: String) throws -> [String] {
    guard case .single(let message)? = Message.content(of: Array(text.utf8)) else { return [] }
    return try MessageHeaders.modern(message, version: message.metaVersion ?? "2026-07-28").map {
      "\($0.name): \($0.value)"
    }
  }

  @Test("the headers of 2026-07-28 repeat version, method and name")
  func modern() throws {
    expect(
      try headers(#"{"id":1,"method":"tools/call","params":{"name":"echo"}}"#),
      is: ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: echo"])
    expect(
      try headers(#"{"id":1,"method":"resources/read","params":{"uri":"file:///é"}}"#).last,
      is: "Mcp-Name: =?base64?ZmlsZTovLy/DqQ==?=")
    expect(try headers(#"{"id":1,"method":"tools/list","params":{"name":"x"}}"#).count, is: 2)
  }

  @Test("no text of a message ends a header")
  func injection() {
    for method in [#"a\r\nX: y"#, "", "é", #"a b"#] {
      #expect(throws: MessageHeaders.Refusal.self) { try headers(#"{"id":1,"method":"\#(method)"}"#) }
    }
    #expect(throws: MessageHeaders.Refusal.self) {
      try headers(
        #"{"id":1,"method":"a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026\r\nX: y"}}}"#
      )
    }
  }

  @Test("names that are not plain ASCII are sent as Base64")
  func encoding() {
    let rows = [
      ("echo", "echo"), ("a b", "a b"), ("", ""), (" a", "=?base64?IGE=?="), ("a ", "=?base64?YSA=?="),
      ("a\r\nb", "=?base64?YQ0KYg==?="), ("é", "=?base64?w6k=?="),
      ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
      ("=?base64?x", "=?base64?x"),
    ]
    for (name, value) in rows { expect(MessageHeaders.encoded(name), is: value) }
  }

  @Test("a session id is visible ASCII")
  func sessionIDs() {
    for id in ["a", "0-9~!", String(repeating: "x", count: 4096)] { #expect(MessageHeaders.isSessionID(id)) }
    for id in ["", "a b", "a\r\nb", "é", String(repeating: "x", count: 4097)] {
      #expect(!MessageHeaders.isSessionID(id))
    }
  }

  @Test("the user sets no header that the bridge makes")
  func usersHeaders() {
    for name in ["X-Api-Key", "User-Agent"] { #expect(MessageHeaders.isUsersOwn(name)) }
    for name in [
      "Authorization", "COOKIE", "mcp-session-id", "Mcp-Method", "Host", "accept", "Last-Event-ID", "", "A B",
      "A:", "é",
    ] {
      #expect(!MessageHeaders.isUsersOwn(name))
    }
  }

  @Test("only 2025-03-26 has batches")
  func batches() {
    expect(Revision("2025-03-26")?.hasBatches, is: true)
    expect(Revision("2025-06-18")?.hasBatches, is: false)
    expect(Revision("a b"), is: nil)
  }
}
