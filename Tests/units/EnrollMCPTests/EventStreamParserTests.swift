import EnrollMCP
import Expectations
import Testing

@Suite("Server-sent events")
struct EventStreamParserTests {
  private func messages(_ text: String, pieces: Int = 1000, limit: Int = 1000) -> (
    all: [String], isRead: Bool, EventStreamParser
  ) {
    var parser = EventStreamParser(limit: limit)
    var all: [String] = []
    var isRead = true
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: pieces) where isRead {
      isRead = bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { piece in
        parser.add(piece) { all.append(String(decoding: $0, as: UTF8.self)) }
      }
    }
    return (all, isRead, parser)
  }

  @Test("events are read with each line end, in pieces of any size")
  func framing() {
    for end in ["\n", "\r\n", "\r"] {
      let lines = [
        "\u{FEFF}: comment", "event: message", "data: {\"a\":", "data:1}", "id: 7", "retry: 250", "",
        "data:{}", "",
        "event: endpoint", "data: /x", "", "data", "", "id: 8", "data:", "", "other: x", "data: [1]", "",
        "data: cut",
      ]
      for pieces in [1, 2, 3, 7, 1000] {
        let (all, isRead, parser) = messages(lines.joined(separator: end) + end, pieces: pieces)
        expect(all, is: ["{\"a\":\n1}", "{}", "[1]"])
        expect(isRead, is: true)
        expect(parser.lastEventID, is: Array("8".utf8))
        expect(parser.retryMilliseconds, is: 250)
      }
    }
  }

  @Test("a message above the limit ends the stream")
  func limit() {
    let (all, isRead, _) = messages(
      "data: {}\n\ndata: " + String(repeating: "x", count: 200) + "\n\n", limit: 100)
    expect(all, is: ["{}"])
    expect(isRead, is: false)
    expect(messages(String(repeating: "data: 123456789\n", count: 50) + "\n", limit: 100).isRead, is: false)
    expect(messages("data: " + String(repeating: "x", count: 90) + "\n\n", limit: 100).all.count, is: 1)
  }

  @Test("an event whose lines meet in a string is no JSON")
  func lineEndInText() {
    let (all, _, _) = messages("data: {\"id\":1,\"result\":\"x\ndata: y\"}\n\n")
    expect(all.map { Message.content(of: Array($0.utf8)) }, is: [nil])
  }

  @Test("a body becomes one line")
  func oneLine() {
    var body = Array("{\r\n \"a\": 1\n}\n".utf8)
    OneLine.made(of: &body)
    expect(String(decoding: body, as: UTF8.self), is: "{   \"a\": 1 } ")
  }
}
