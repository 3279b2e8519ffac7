// How text is laid out on a terminal of some width: pure.

package enum Layout {
  /// The narrowest terminal that is gone along with.
  package static let narrowest = 20

  /// - Parameters:
  ///   - columns: what COLUMNS says.
  ///   - terminal: what the terminal says; 0 when it does not.
  package static func width(columns: String?, terminal: Int) -> Int {
    if let columns = columns.flatMap({ Int($0) }), columns > 0 { return max(narrowest, columns) }
    return terminal > 0 ? max(narrowest, terminal) : 80
  }

  /// Lines of at most `width` characters. A word that is longer, an address say, is never broken.
  /// - Parameter indent: of the lines after the first; the first keeps what stands before its first word.
  package static func wrapped(_ text: String, width: Int?, indent: Int = 0) -> [String] {
    guard let width else { return [text] }
    let lead = String(text.prefix { $0 == " " })
    var lines: [String] = []
    var line = lead
    for word in text.split(separator: " ") {
      if line.count > (lines.isEmpty ? lead.count : indent) {
        guard line.count + 1 + word.count > width else {
          line += " " + word
          continue
        }
        lines.append(line)
        line = String(repeating: " ", count: indent)
      }
      line += word
    }
    return lines + [line]
  }

  /// One line, cut where the terminal ends.
  package static func cut(_ text: String, width: Int, ellipsis: String) -> String {
    text.count <= width ? text : text.prefix(max(0, width - ellipsis.count)) + ellipsis
  }

  /// Names and values in two columns; a value that is too long goes on below itself.
  package static func table(_ rows: [(name: String, value: String)], width: Int?) -> [String] {
    let column = (rows.map { $0.name.count }.max() ?? 0) + 4
    return rows.flatMap { row in
      let name = "  " + row.name + String(repeating: " ", count: column - 2 - row.name.count)
      return wrapped(row.value, width: width.map { max(1, $0 - column) }).enumerated().map { index, line in
        (index == 0 ? name : String(repeating: " ", count: column)) + line
      }
    }
  }
}
