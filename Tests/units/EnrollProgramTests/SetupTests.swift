// The texts that `enroll setup` changes: it removes exactly what it added, and keeps every other byte.

import EnrollJSON
import Testing

@testable import enroll

@Suite("Texts of other programs")
struct SetupTests {
  @Test(
    "a member is added where it belongs, and removed without a trace",
    arguments: [
      ("{}", #"{"credHelpers": {"h:5": "enroll"}}"#),
      ("{ }\n", #"{"credHelpers": {"h:5": "enroll"} }"# + "\n"),
      (#"{"a":[{"credHelpers":{}}]}"#, #"{"credHelpers": {"h:5": "enroll"}, "a":[{"credHelpers":{}}]}"#),
      ("{\n\t\"a\": \"}\\\"{\"\n}", "{\n\t\"credHelpers\": {\"h:5\": \"enroll\"},\n\t\"a\": \"}\\\"{\"\n}"),
      (
        #"{"a": 1.50, "credHelpers" : {"x": "y"}, "b": null}"#,
        #"{"a": 1.50, "credHelpers" : {"h:5": "enroll", "x": "y"}, "b": null}"#
      ),
    ])
  func members(_ before: String, _ after: String) throws {
    var text = try #require(MemberText(before))
    for _ in 1...2 {
      let isAdded = text.add("enroll", as: "h:5", in: "credHelpers")
      #expect(isAdded && text.text == after)
    }
    text.remove("h:5", in: "credHelpers")
    #expect(try JSON.parse(Array(text.text.utf8)) == JSON.parse(Array(before.utf8)))
    #expect(text.text == before)
  }

  @Test(
    "a document that has something else there is not changed",
    arguments: [#"{"credHelpers": {"h:5": "other"}}"#, #"{"credHelpers": []}"#, #"{"credHelpers": "x"}"#])
  func occupied(_ before: String) throws {
    var text = try #require(MemberText(before))
    let isAdded = text.add("enroll", as: "h:5", in: "credHelpers")
    #expect(!isAdded && text.text == before)
  }

  @Test("what is no object is no document", arguments: ["", "[]", "{", "1", "{} {}"])
  func noDocument(_ text: String) { #expect(MemberText(text) == nil) }

  @Test("the last and the only member of an object are removed with their comma")
  func removal() throws {
    var text = try #require(MemberText(#"{"credHelpers":{"a":"b" , "h":"enroll"},"z":1}"#))
    text.remove("h", in: "credHelpers")
    #expect(text.text == #"{"credHelpers":{"a":"b"},"z":1}"#)
    text.remove("a", in: "credHelpers")
    #expect(text.text == #"{"z":1}"#)
  }

  @Test(
    "an element is added at the end of a list, and removed without a trace",
    arguments: [
      ("{}", #"{"l": [{"h":1}]}"#),
      (#"{"l":["]"]}"#, #"{"l":["]", {"h":1}]}"#),
      (#"{"l": [1.50 , {"a": [2]}], "z": 0}"#, #"{"l": [1.50 , {"a": [2]} , {"h":1}], "z": 0}"#),
      ("{\n\t\"l\": [\n\t\t1,\n\t\t2\n\t]\n}", "{\n\t\"l\": [\n\t\t1,\n\t\t2,\n\t\t{\"h\":1}\n\t]\n}"),
    ])
  func elements(_ before: String, _ after: String) throws {
    var text = try #require(MemberText(before))
    let count = text.json["l"]?.array?.count ?? 0
    let isAdded = text.append(.object([("h", .integer(1))]), to: "l")
    #expect(isAdded)
    #expect(try JSON.parse(Array(text.text.utf8)) == JSON.parse(Array(after.utf8)))
    text.remove(count, of: "l")
    #expect(text.text == before)
  }

  @Test("an element is replaced and removed; what is no list is not changed")
  func otherElements() throws {
    var text = try #require(MemberText(#"{"l": [1, 2 , 3], "x": {}}"#))
    text.replace(1, of: "l", by: .string("b"))
    #expect(text.text == #"{"l": [1, "b" , 3], "x": {}}"#)
    text.remove(0, of: "l")
    #expect(text.text == #"{"l": ["b" , 3], "x": {}}"#)
    let isAdded = text.append(.integer(4), to: "x")
    #expect(!isAdded && text.text == #"{"l": ["b" , 3], "x": {}}"#)
  }

  @Test(
    "a registry of Cargo is found by the host of its index",
    arguments: [
      ("[registries.a]\nindex = \"sparse+https://c.example/i/\"\n", true),
      ("[registries.a]\n  index='https://C.example:443/i'  # mine\n[net]\n", true),
      ("[registries.a]\nindex = \"sparse+https://c.example.evil.example/i/\"\n", false),
      ("[registry]\nindex = \"sparse+https://c.example/i/\"\n", false),
      (
        "[registries.a]\nindex = \"sparse+https://c.example/i/\"\ncredential-provider = \"cargo:token\"\n",
        false
      ),
      ("", false),
    ])
  func registries(_ before: String, _ isFound: Bool) throws {
    let host = try #require(NamedHost("c.example"))
    let words = ["enroll", "credential", "cargo", "--username", #"a"\b"#]
    #expect(
      CargoSettings.line(words)
        == #"credential-provider = ["enroll", "credential", "cargo", "--username", "a\"\\b"]"#)
    do throws(CargoSettings.Refusal) {
      let change = try CargoSettings(before, host).adding(words)
      #expect(isFound && change.text != before)
      let again = try CargoSettings(change.text, host)
      #expect(try again.adding(words).text == change.text)
      #expect(again.removing().text == before)
    } catch {
      #expect(!isFound)
    }
  }

  @Test("the statements of a TOML document have their keys, and their strings")
  func statements() throws {
    let text = """
      # [no]
      a . "b\\u002e" = 'c' # x
      [t.'u v']
      s = [ "1", # ]
        '2', ]
      d = 1979-05-27 07:32:00
      [[l]]
      m = \"\"\"
      [x]
      y = 1\\\"\"\"\"
      z = {k = "}"}

      """
    let document = TOMLStatements(text)
    #expect(document.badLine == nil)
    #expect(
      document.all.map { $0.path } == [
        ["a", "b."], ["t", "u v"], ["t", "u v", "s"], ["t", "u v", "d"], ["l"], ["l", "m"], ["l", "z"],
      ])
    let values = document.all.compactMap { $0.value }
    #expect(document.string(values[0]) == "c")
    #expect(document.strings(values[1]) == ["1", "2"])
    #expect(document.text(values[2]) == "1979-05-27 07:32:00")
    #expect(document.all.map { document.text($0.lines) }.joined() == String(text.dropFirst(7)))
  }

  @Test(
    "the line that is not TOML is found",
    arguments: [
      ("a = 1\nb\n", 2), ("a = 1\n[b\n", 2), ("a = \"\n", 1), ("a = [\n1\n", 1), ("a = ]\n", nil),
      ("= 1\n", 1),
      ("a = '''\n", 1), ("a = 'b' c\n", 1), ("\n\n[[a]\n", 3), ("a.b. = 1", 1), ("", nil),
      ("\r\n#\r\na = 1\r\n", nil),
    ])
  func badLine(_ text: String, _ line: Int?) { #expect(TOMLStatements(text).badLine == line) }

  @Test(
    "the items of an HCL document are found, and the line that cannot be read",
    arguments: [
      ("a = 1\n# b\nc \"d\" { }\n", ["a", "c d"], nil),
      ("/* x { */ a {\n b = <<E\n}\nE\n} // y", ["a"], nil),
      ("a = [\n \"]\", # ]\n]\nb = {\n}", ["a", "b"], nil),
      ("a {", [], 1), ("a = 1\n}", ["a"], 2), ("a\n/*", [], 1), ("{}", [], 1), ("a = \"b\n", [], 1),
      ("a = <<E\nF", [], 1),
    ])
  func items(_ text: String, _ words: [String], _ line: Int?) {
    let document = HCLItems(text)
    #expect(document.all.map { $0.words.joined(separator: " ") } == words)
    #expect(document.badLine == line)
  }
}
