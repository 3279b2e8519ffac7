import EnrollMCP
import Expectations
import Testing

@Suite("Lines of a host")
struct HostLinesTests {
  private func lines(_ pieces: [String], limit: Int = 1000) -> [HostLines.Line] {
    var reader = HostLines(limit: limit)
    var lines: [HostLines.Line] = []
    for piece in pieces { reader.add(Array(piece.utf8)) { lines.append($0) } }
    reader.finish { lines.append($0) }
    return lines
  }

  @Test("lines end with LF or CR LF; empty lines are left out; the last line may have no end")
  func ends() {
    expect(
      lines(["{\"a\"", ":1}\r\n\n \n{}", "\n[", "]"]),
      is: [.whole(Array(#"{"a":1}"#.utf8)), .whole(Array("{}".utf8)), .whole(Array("[]".utf8))])
  }

  @Test("a line above the limit gives its id, wherever it is, and the next line is read")
  func tooLong() {
    let filling = String(repeating: "x", count: 100)
    let id = #""é\"x""#
    let long = [
      #"{"id":\#(id),"method":"a","params":{"id":2,"t":"\#(filling)"}}"#,
      #"{"method":"a","params":{"t":"\#(filling)","id":2},"jsonrpc":"2.0","id":\#(id)}"#,
      #"{"x":"\",\"id\":3","params":["\#(filling)","id",":"], "id" : \#(id) }"#,
    ]
    for line in long {
      expect(
        lines([line, "\n{}\n"], limit: 60), is: [.tooLong(id: Array(id.utf8)), .whole(Array("{}".utf8))])
      expect(
        lines(line.map { String($0) } + ["\n"], limit: 60), is: [.tooLong(id: Array(id.utf8))])
    }
    for line in [#"{"method":"a","t":"\#(filling)"}"#, #"{"id":null,"t":"\#(filling)"}"#, filling] {
      expect(lines([line, "\n"], limit: 60), is: [.tooLong(id: nil)])
    }
  }

  @Test("a request that cannot be read has its id; an answer and what is no JSON have none")
  func requestID() {
    let deep = String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
    func id(_ line: String) -> String? {
      IDFinder.requestID(in: Array(line.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }
    expect(id(#"{"id":"a","method":"b","params":\#(deep)}"#), is: #""a""#)
    expect(id(#"{"id":-1,"method":"b","params":\#(deep)}"#), is: "-1")
    let others = [
      #"{"id":"a","result":\#(deep)}"#, #"{"id":"a","method":"b""#, #"{"id":a,"method":"b"}"#, "x",
    ]
    for line in others { expect(id(line), is: nil) }
  }
}
