import EnrollMCP
import EnrollRules
import Expectations
import Testing

@Suite("Tools: arguments that headers repeat, and tools that are left out")
struct ToolListTests {
  private func list(
    _ line: String, id: String = "1", checksMarks: Bool = true, hiding: [String] = []
  ) -> ToolList {
    ToolList(Array(line.utf8), answering: [MessageID(Array(id.utf8))], checksMarks: checksMarks) {
      hiding.contains($0)
    }
  }

  private func tool(_ name: String, _ schema: String) -> String {
    #"{"name":"\#(name)","inputSchema":\#(schema)}"#
  }

  private func answer(_ tools: String...) -> String {
    #"{"jsonrpc":"2.0","id":1,"result":{"tools":[\#(tools.joined(separator: " , "))],"ttlMs":1.0}}"#
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  /// The headers of a call of the tool `t` with this schema.
  private func headers(_ schema: String, _ arguments: String) -> [String] {
    var known = KnownTools()
    known.learn(list(answer(tool("t", schema))))
    let call = #"{"method":"tools/call","id":1,"params":{"name":"t","arguments":\#(arguments)}}"#
    return MirroredArgument.headers(known["t"], of: Array(call.utf8)).map { "\($0.name): \($0.value)" }
  }

  private static let marked = #"""
    {"type":"object","properties":{
      "s":{"type":"string","x-mcp-header":"Str"},"i":{"x-mcp-header":"Int","type":"integer"},
      "b":{"type":"boolean","x-mcp-header":"Bool"},"free":{"type":"number"},
      "o":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}}}}
    """#

  @Test("a schema that is nested too deeply leaves its tool out")
  func deep() {
    let depth = 100_000
    for (open, close) in [(#"{"not":"#, "}"), (#"{"anyOf":["#, "]}"), (#"{"properties":{"a":"#, "}}")] {
      let schema = String(repeating: open, count: depth) + "{}" + String(repeating: close, count: depth)
      let read = list(answer(tool("t", schema), tool("u", "{}")))
      expect(read.faults.map { $0.tool }, is: ["t"])
      expect(text(read.line), is: answer(tool("u", "{}")))
    }
  }

  @Test("marked arguments become headers, with their digits, in Base64 where a header needs it")
  func values() {
    let rows: [(String, [String])] = [
      (
        #"{"s":"us-west1","i":42,"b":false,"free":3.5}"#,
        [
          "Mcp-Param-Str: us-west1", "Mcp-Param-Int: 42", "Mcp-Param-Bool: false",
        ]
      ),
      (#"{"o":{"deep":"x","other":{"deep":"y"}},"deep":"z"}"#, ["Mcp-Param-Deep: x"]),
      (#"{"s":""}"#, ["Mcp-Param-Str: "]),
      (#"{"s":"a\r\nX: y"}"#, ["Mcp-Param-Str: =?base64?YQ0KWDogeQ==?="]),
      (#"{"s":" \u00e9"}"#, ["Mcp-Param-Str: =?base64?IMOp?="]),
      (#"{"i":-7}"#, ["Mcp-Param-Int: -7"]), (#"{"i":42.0}"#, ["Mcp-Param-Int: 42"]),
      (#"{"i":9007199254740993}"#, ["Mcp-Param-Int: 9007199254740993"]),
      (#"{"s":null,"i":{},"b":[true],"o":null}"#, []), (#"{"s":"\ud800"}"#, []), ("null", []),
      // If two members have the same name, the last member counts, as it does for the server.
      (#"{"s":"a","s":"b"}"#, ["Mcp-Param-Str: b"]), (#"{"o":{"deep":"x"},"o":null}"#, []),
    ]
    for (arguments, expected) in rows { expect(headers(Self.marked, arguments), is: expected) }
  }

  @Test("a tool with a mark that is not allowed is left out, with the reason, and no other")
  func faults() {
    let string = #""type":"string""#
    func one(_ schema: String) -> String { #"{"properties":{"a":\#(schema)}}"# }
    let invalid = [
      one(#"{\#(string),"x-mcp-header":""}"#), one(#"{\#(string),"x-mcp-header":"My Region"}"#),
      one(#"{\#(string),"x-mcp-header":"Region:Primary"}"#), one(#"{\#(string),"x-mcp-header":"Région"}"#),
      one(#"{\#(string),"x-mcp-header":"Region\t1"}"#), one(#"{\#(string),"x-mcp-header":7}"#),
      one(#"{"type":"number","x-mcp-header":"A"}"#), one(#"{"type":"object","x-mcp-header":"A"}"#),
      one(#"{"type":"null","x-mcp-header":"A"}"#), one(#"{"x-mcp-header":"A"}"#),
      one(#"{"type":["string","null"],"x-mcp-header":"A"}"#),
      #"{"properties":{"a":{\#(string),"x-mcp-header":"A"},"b":{\#(string),"x-mcp-header":"a"}}}"#,
      #"{\#(string),"x-mcp-header":"A"}"#,
      one(#"{"items":{\#(string),"x-mcp-header":"A"}}"#),
      one(#"{"items":[{\#(string),"x-mcp-header":"A"}]}"#),
      one(#"{"anyOf":[{"type":"null"},{"properties":{"b":{\#(string),"x-mcp-header":"A"}}}]}"#),
      ##"{"$defs":{"d":{\##(string),"x-mcp-header":"A"}},"properties":{"a":{"$ref":"#/$defs/d"}}}"##,
      #"{"if":{"properties":{"a":{\#(string),"x-mcp-header":"A"}}}}"#,
    ]
    for schema in invalid {
      let list = list(answer(tool("good", Self.marked), tool("bad", schema), tool("plain", "{}")))
      expect(list.faults.map { $0.tool }, is: ["bad"])
      expect(text(list.line), is: answer(tool("good", Self.marked), tool("plain", "{}")))
    }
    // A `default` is data, not a schema, and a property may have the name of a schema keyword.
    let valid = [
      #"{"properties":{"a":{"type":"object","default":{"x-mcp-header":""}},"items":{"type":"array"}}}"#,
      #"{"properties":{"x-mcp-header":{"type":"string"},"properties":{"type":"string","x-mcp-header":"P"}}}"#,
      "null", "[]",
    ]
    for schema in valid {
      let line = answer(tool("t", schema))
      expect(list(line).faults, is: [])
      expect(text(list(line).line), is: line)
    }
  }

  @Test("without marks in the protocol nothing is left out")
  func earlierVersions() {
    let line = answer(tool("t", #"{"properties":{"a":{"x-mcp-header":""}}}"#))
    expect(text(list(line, checksMarks: false).line), is: line)
  }

  @Test("hidden tools are left out wherever they are, and every other byte stays")
  func hidden() {
    let names = ["a", "b", "c"]
    for hiding in [["a"], ["b"], ["c"], ["a", "b"], ["b", "c"], ["a", "c"], names, []] {
      let line = answer(tool("a", "{}"), tool("b", "{}"), tool("c", "{}"))
      let shown = list(line, hiding: hiding).line
      guard case .single? = Message.content(of: shown) else {
        Issue.record("no JSON: \(text(shown))")
        continue
      }
      let kept = list(text(shown)).tools.map { $0.name }
      expect(kept, is: names.filter { !hiding.contains($0) })
    }
    expect(
      text(list(#"{"id":1,"result":{"tools":[ {"name":"a"} ],"x":1.0}}"#, hiding: ["a"]).line),
      is: #"{"id":1,"result":{"tools":[  ],"x":1.0}}"#)
  }

  @Test("only the answer to the request is changed, alone and in a batch")
  func otherMessages() {
    let tools = #"{"tools":[{"name":"a"},{"name":"b"}]}"#
    for line in [
      #"{"id":2,"result":\#(tools)}"#, #"{"method":"x","params":\#(tools)}"#, #"{"id":1,"error":{"code":1}}"#,
      #"{"id":1,"result":{"tools":{"name":"a"}}}"#,
    ] {
      expect(text(list(line, hiding: ["a"]).line), is: line)
    }
    expect(
      text(list(#"[{"id":2,"result":\#(tools)},{"result":\#(tools),"id":1}]"#, hiding: ["a"]).line),
      is: #"[{"id":2,"result":\#(tools)},{"result":{"tools":[{"name":"b"}]},"id":1}]"#)
  }

  @Test("the bridge's own request has the version and capabilities of the call, and no token for progress")
  func request() {
    let key = "io.modelcontextprotocol/"
    let meta = #""\#(key)protocolVersion":"2026-07-28","\#(key)clientCapabilities":{"a": 1.0}"#
    let call = #"{"method":"tools/call","params":{"name":"t","_meta":{"progressToken":1,\#(meta)}}}"#
    let first = ToolList.request(id: Array("7".utf8), after: Array(call.utf8), page: nil)
    expect(
      text(first), is: #"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{\#(meta)}}}"#)
    expect(
      text(ToolList.request(id: Array("8".utf8), after: first, page: Array(#""p\u0032""#.utf8))),
      is:
        #"{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"_meta":{\#(meta)},"cursor":"p\u0032"}}"#)
    expect(
      list(#"{"id":1,"result":{"tools":[],"nextCursor":"p\u0032"}}"#).nextCursor.map { text($0) },
      is: #""p\u0032""#)
  }

  @Test("a tool that has lost its marks is known without them")
  func changes() {
    var known = KnownTools()
    known.learn(list(answer(tool("t", Self.marked))))
    expect(known["t"].count, is: 4)
    known.learn(list(answer(tool("other", "{}"))))
    expect(known["t"].count, is: 4)
    known.learn(list(answer(tool("t", "{}"))))
    expect(known["t"], is: [])
  }

  @Test("patterns are those of a shell")
  func patterns() {
    let rows: [(String, String, Bool)] = [
      ("delete_*", "delete_all", true), ("delete_*", "delete_", true), ("delete_*", "undelete_all", false),
      ("*", "", true), ("*all*", "delete_all_now", true), ("a?c", "abc", true), ("a?c", "ac", false),
      ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-b-b-d", false), ("é?", "é😀", true), ("x", "X", false),
      ("", "", true), ("", "a", false),
    ]
    for (pattern, name, matches) in rows { expect(NamePattern(pattern).matches(name), is: matches) }
  }
}
