import EnrollMCP
import Expectations
import Testing

@Suite("What the bridge reads of a message")
struct MessageTests {
  private func read(_ text: String) -> Message? {
    guard case .single(let message)? = Message.content(of: Array(text.utf8)) else { return nil }
    return message
  }

  private func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
  private func text(_ id: MessageID?) -> String? { text(id?.bytes) }

  @Test("the id keeps its bytes, whatever JSON text or number it is")
  func ids() {
    for id in ["1", "-0.0", "1e400", "9007199254740993", #""a\"b""#, #""é""#, #""""#] {
      expect(text(read(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#)?.id), is: id)
    }
    expect(read(#"{"id":null,"method":"ping"}"#)?.id, is: nil)
    expect(read(#"{"id":[1],"method":"ping"}"#)?.id, is: nil)
  }

  @Test("ids are equal if they are equal as JSON values")
  func equalIDs() {
    func id(_ text: String) -> MessageID { MessageID(Array(text.utf8)) }
    let same = [
      ["24", "24.0", "24.000", "2.4e1", "240E-1", "24e+0"], ["0", "-0", "0.0", "0e7", "-0.00e-3"],
      ["-7.50", "-75e-1"], ["9007199254740993"], ["9007199254740992"], [#""24""#, #""\u0032\u0034""#],
      [#""é""#, #""\u00e9""#], [#""e\u0301""#], ["1e999999999999999999999"], ["1e999999999999999999998"],
      [#""\ud800""#], [#""\ud801""#], ["1e1000000001"],
    ]
    for (row, ids) in same.enumerated() {
      for (otherRow, others) in same.enumerated() {
        for one in ids {
          for other in others { #expect((id(one) == id(other)) == (row == otherRow), "\(one), \(other)") }
        }
      }
    }
  }

  @Test("what hosts wait on for is no answer; what some of them read is one")
  func answerFaults() {
    let good = [
      #""result":{}"#, #""error":{"code":1,"message":"m"}"#, #""result":{},"error":null"#,
      #""result":null,"error":{"code":1,"message":"m"}"#, #""result":null"#, #""result":"text","x":1"#,
    ]
    for members in good {
      expect(read(#"{"jsonrpc":"2.0","id":1,\#(members)}"#)?.answerFault, is: nil)
      expect(read(#"{"id":1,\#(members)}"#)?.answerFault, is: #"an answer without "jsonrpc": "2.0""#)
    }
    let bad = [
      (#""x":1"#, "an answer with neither a result nor an error"),
      (#""error":null"#, "an answer with neither a result nor an error"),
      (#""result":{},"error":{"code":1,"message":"m"}"#, "an answer with both a result and an error"),
      (#""error":"not found""#, "an error without a code"),
      (#""error":{"message":"m"}"#, "an error without a code"),
      (#""method":"ping","result":{}"#, "an answer that has a method"),
    ]
    for (members, fault) in bad {
      expect(read(#"{"jsonrpc":"2.0","id":1,\#(members)}"#)?.answerFault, is: fault)
    }
    expect(
      read(#"{"jsonrpc":"1.0","id":1,"result":{}}"#)?.answerFault, is: #"an answer without "jsonrpc": "2.0""#)
    expect(read(#"{"jsonrpc":"2.0","id":1,"method":"ping","result":null}"#)?.isAnswer, is: false)
    expect(read(#"{"jsonrpc":"2.0","id":1,"method":"ping","result":1}"#)?.isAnswer, is: true)
  }

  @Test("a message in which two programs may read different tools is ambiguous")
  func ambiguity() {
    let call = #""method":"tools/call","id":1"#
    for text in [
      #"{\#(call),"params":{"name":"a","name":"b"}}"#, #"{\#(call),"params":{"name":"a","n\u0061me":"b"}}"#,
      #"{\#(call),"params":{"name":"a"},"params":{"name":"b"}}"#,
      #"{"method":"ping",\#(call),"params":{"name":"a"}}"#,
      #"{\#(call),"params":{"Name":"a"}}"#, #"{\#(call),"PARAMS":{"name":"a"}}"#,
    ] {
      expect(read(text)?.isAmbiguous, is: true)
    }
    for text in [
      #"{\#(call),"params":{"name":"a","arguments":{"name":"b","Name":"c","method":"d"}}}"#,
      #"{"id":1,"id":2,"method":"ping"}"#,
    ] {
      expect(read(text)?.isAmbiguous, is: false)
    }
  }

  @Test("any nesting that a server sends is read, and a bracket that does not match is found")
  func nesting() {
    let depth = 100_000
    let open = String(repeating: #"[{"a":"#, count: depth)
    let close = String(repeating: "}]", count: depth)
    expect(text(read(#"{"id":1,"params":\#(open)0\#(close),"method":"a"}"#)?.id), is: "1")
    for wrong in ["[1}", #"{"a":1]"#, "[1,]", #"{"a":1,}"#, #"{"a" 1}"#, "[[]", "{1:2}", "[,1]", "[1 2]"] {
      expect(read(#"{"id":1,"params":\#(wrong),"method":"a"}"#)?.id, is: nil)
    }
  }

  @Test("names are found wherever they are, also escaped ones; of two the last counts")
  func names() {
    let call = read(
      #"{"params":{"arguments":{"name":"x","id":7},"name":"a\u00e9\ud83d\ude00"},"method":"tools/call","id":1}"#
    )
    expect(call?.name, is: "aé😀")
    expect(call?.isRequest, is: true)
    expect(
      read(#"{"m\u0065thod":"resources/read","id":2,"params":{"name":"n","uri":"file:///x"}}"#)?.name,
      is: "file:///x")
    expect(read(#"{"method":"a","method":"b","id":1,"id":2}"#)?.method, is: "b")
    expect(text(read(#"{"method":"a","method":"b","id":1,"id":2}"#)?.id), is: "2")
  }

  @Test("the version of a message is in _meta, that of a session in initialize and its answer")
  func versions() {
    let modern = read(
      #"{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#
    )
    expect(modern?.metaVersion, is: "2026-07-28")
    expect(
      read(#"{"id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#)?.offeredVersion,
      is: "2025-06-18")
    let answer = read(#"{"id":1,"result":{"capabilities":{},"protocolVersion":"2025-03-26"}}"#)
    expect(answer?.agreedVersion, is: "2025-03-26")
    expect(answer?.isAnswer, is: true)
  }

  @Test("a cancellation names its request")
  func cancellations() {
    let message = read(#"{"method":"notifications/cancelled","params":{"requestId":"x","reason":"r"}}"#)
    expect(message?.isCancellation, is: true)
    expect(text(message?.cancelledID), is: #""x""#)
  }

  @Test("an array is a batch; what is no JSON object is no message")
  func contents() {
    guard
      case .batch(let all)? = Message.content(of: Array(#" [{"id":1,"method":"a"},{"method":"b"}] "#.utf8))
    else {
      Issue.record("no batch")
      return
    }
    expect(all.map { $0.method }, is: ["a", "b"])
    let wrong = [
      "", "x", "1", "null", #""a""#, "[1]", "{", #"{"a":}"#, #"{"a":1,}"#, #"{"a":01}"#, #"{"a":1.}"#,
      #"{"a":+1}"#,
      "{\"a\":\"\n\"}", #"{"a":"\x"}"#, #"{"a":"\u12g4"}"#, #"{} {}"#, #"{"a":tru}"#, #"{"a" 1}"#,
      #"{'a':1}"#,
      #"{"a":1e}"#, String(repeating: "[", count: 5000),
    ]
    for text in wrong { expect(Message.content(of: Array(text.utf8)), is: nil) }
    let right = [#"{"a":[],"b":{},"c":-0.0,"d":1E+9,"e":true,"f":null,"g":"\u0000\/"}"#, "\t{ \"a\" : 1 }\r"]
    for text in right { #expect(Message.content(of: Array(text.utf8)) != nil) }
  }

  @Test("a text that is not UTF-8 is no message (RFC 8259 §8.1)")
  func encoding() {
    let good: [[UInt8]] = [
      [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
      [0xEF, 0xBF, 0xBF],
      [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0x7F],
    ]
    let bad: [[UInt8]] = [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x9F, 0xBF], [0xE1, 0x80],
      [0xED, 0xA0, 0x80], [0xEF, 0xBF, 0x22], [0xF0, 0x8F, 0xBF, 0xBF], [0xF1, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80],
      [0xF5, 0x80, 0x80, 0x80], [0xFF],
    ]
    for (texts, isGood) in [(good, true), (bad, false)] {
      for text in texts {
        let value = Array(#"{"id":1,"result":{"a":""#.utf8) + text + Array(#""}}"#.utf8)
        expect(Message.content(of: value) != nil, is: isGood)
        let name = Array(#"{"id":1,""#.utf8) + text + Array(#"":1}"#.utf8)
        expect(Message.content(of: name) != nil, is: isGood)
      }
    }
  }

  @Test("an error without a code is no error of JSON-RPC")
  func errors() {
    expect(
      text(read(#"{"id":1,"error":{"code":-32000,"message":"m"}}"#)?.error),
      is: #"{"code":-32000,"message":"m"}"#)
    for other in [#""Not Found""#, "{}", #"{"message":"m"}"#, "5", "null", #"{"code":"x"}"#, "[]"] {
      expect(read(#"{"error":\#(other)}"#)?.error, is: nil)
    }
  }

  @Test("only what changes nothing is sent again")
  func repeatable() {
    for method in ["ping", "tools/list", "resources/read", "initialize", "server/discover"] {
      expect(read(#"{"id":1,"method":"\#(method)"}"#)?.isRepeatable, is: true)
    }
    for method in ["tools/call", "resources/subscribe", "logging/setLevel"] {
      expect(read(#"{"id":1,"method":"\#(method)"}"#)?.isRepeatable, is: false)
    }
  }

  @Test("a 404 is about the session unless the server answers the request")
  func lostSessions() {
    let rows: [(String, Bool)] = [
      // The errors as the servers of the SDKs for TypeScript and Python write them.
      (#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}"#, true),
      (#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}"#, true),
      (#"{"id":7,"error":{"code":-32001,"message":"Session not found"}}"#, true),
      (#"{"id":7,"error":{"code":-32000,"message":"Invalid session"}}"#, true),
      (#"{"id":null,"error":{"code":-32600,"message":"Not Found"}}"#, true),
      (#"{"id":7,"error":{"message":"no code"}}"#, true),
      (#"{"id":7,"error":{"code":-32000,"message":"No such file"}}"#, false),
      (#"{"id":7,"error":{"code":-32601,"message":"Method not found"}}"#, false),
      (#"{"id":null,"error":{"code":-32601,"message":"Method not found"}}"#, false),
      (#"{"id":7,"error":{"code":-32002,"message":"Resource not found"}}"#, false),
      (#"{"id":7,"error":{"code":404,"message":"session x"}}"#, false),
    ]
    for (body, isLost) in rows { expect(read(body)?.tellsOfLostSession(to: [MessageID([0x37])]), is: isLost) }
    expect(read(#"{"id":1,"error":{"code":-32020}}"#)?.errorCode, is: Message.headerMismatch)
    expect(read(#"{"id":1,"error":"x"}"#)?.errorCode, is: nil)
  }

  @Test("random documents are read to their end, and cut ones are refused")
  func randomDocuments() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let document = #"{"id":1,"params":"# + Self.document(&random, depth: 0) + "}"
      let bytes = Array(document.utf8)
      #expect(Message.content(of: bytes) != nil, "\(document)")
      let cut = Array(bytes.prefix(Int.random(in: 0..<bytes.count)))
      expect(Message.content(of: cut), is: nil)
    }
  }

  private static func document(_ random: inout SystemRandomNumberGenerator, depth: Int) -> String {
    switch Int.random(in: 0..<(depth > 4 ? 5 : 7), using: &random) {
    case 0: return "\(Int64.random(in: .min ... .max, using: &random))"
    case 1: return "1.50e-7"
    case 2: return ["true", "false", "null"].randomElement(using: &random) ?? "null"
    case 3: return #""\\ \" \u20ac é \n""#
    case 4: return #""""#
    case 5:
      let inner = (0..<Int.random(in: 0..<4, using: &random)).map { _ in document(&random, depth: depth + 1) }
      return "[" + inner.joined(separator: " , ") + "]"
    default:
      let inner = (0..<Int.random(in: 0..<4, using: &random)).map {
        "\"\($0)\" : " + document(&random, depth: depth + 1)
      }
      return "{" + inner.joined(separator: ",") + "}"
    }
  }
}
