// Text on terminals of every width.

import Testing

@testable import EnrollArguments

@Suite("Text on a terminal")
struct LayoutTests {
  @Test(
    "COLUMNS goes before the terminal, nonsense counts for nothing, and nothing is narrower than twenty columns",
    arguments: [
      ("100", 40, 100), (nil, 40, 40), ("", 40, 40), ("x", 40, 40), ("0", 40, 40), ("-3", 40, 40),
      (nil, 0, 80), ("5", 40, 20), (nil, 3, 20),
    ] as [(String?, Int, Int)])
  func width(columns: String?, terminal: Int, expected: Int) {
    #expect(Layout.width(columns: columns, terminal: terminal) == expected)
  }

  @Test("lines end between words, and go on indented")
  func wrapped() {
    #expect(
      Layout.wrapped("one two three four", width: 9, indent: 2) == ["one two", "  three", "  four"])
    #expect(Layout.wrapped("  led by two", width: 9, indent: 2) == ["  led by", "  two"])
    #expect(Layout.wrapped("as long as it is", width: nil) == ["as long as it is"])
    #expect(Layout.wrapped("", width: 10) == [""])
  }

  @Test("an address is never broken")
  func address() {
    let address = "https://id.example/authorize?a=1"
    #expect(Layout.wrapped("at \(address) now", width: 10) == ["at", address, "now"])
  }

  @Test("a spinner's line is cut where the terminal ends")
  func cut() {
    #expect(Layout.cut("Waiting", width: 7, ellipsis: "…") == "Waiting")
    #expect(Layout.cut("Waiting", width: 5, ellipsis: "…") == "Wait…")
    #expect(Layout.cut("Waiting", width: 5, ellipsis: "...") == "Wa...")
    #expect(Layout.cut("Waiting", width: 1, ellipsis: "...") == "...")
  }

  @Test("two columns, of which the second goes on below itself")
  func table() {
    #expect(
      Layout.table([("a", "x"), ("long", "one two three")], width: 15)
        == ["  a     x", "  long  one two", "        three"])
    #expect(Layout.table([], width: 40).isEmpty)
  }
}
