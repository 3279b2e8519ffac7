import EnrollMCP
import Expectations
import Testing

@Suite("The address that an endpoint event names")
struct EndpointReferenceTests {
  @Test("a part of a URL is completed, and another origin is refused")
  func resolving() {
    let rows: [(String, String?)] = [
      ("/messages?id=1", "https://notes.example/messages?id=1"),
      ("messages", "https://notes.example/v1/messages"),
      ("?id=1", "https://notes.example/v1/sse?id=1"), ("//notes.example/m", "https://notes.example/m"),
      ("https://notes.example/m#part", "https://notes.example/m"),
      ("https://NOTES.example:443/m", "https://NOTES.example:443/m"), ("/a:b", "https://notes.example/a:b"),
      ("https://other.example/m", nil), ("https://notes.example.evil/m", nil),
      ("http://notes.example/m", nil),
      ("https://notes.example:8443/m", nil), ("//other.example/m", nil),
      ("https://notes.example@evil/m", nil),
      ("javascript:alert(1)", nil), ("/a b", nil), ("/a\r\nb", nil), (#"/\other.example"#, nil), ("/é", nil),
    ]
    for (text, expected) in rows {
      expect(EndpointReference.resolved(text, base: "https://notes.example/v1/sse"), is: expected)
    }
    expect(EndpointReference.resolved("m", base: "https://notes.example"), is: "https://notes.example/m")
  }

  @Test("the event is no message, and only the first one counts")
  func event() {
    var parser = EventStreamParser(limit: 1000)
    var messages: [[UInt8]] = []
    let text = "event: endpoint\ndata: /a\n\nevent: endpoint\ndata: /b\n\ndata: {}\n\n"
    _ = Array(text.utf8).withUnsafeBytes { parser.add($0) { messages.append($0) } }
    expect(parser.endpoint, is: Array("/a".utf8))
    expect(messages, is: [Array("{}".utf8)])
  }
}
