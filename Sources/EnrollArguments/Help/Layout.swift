// The layout of text for a terminal of a given width, without side effects.

package enum Layout {
  /// The smallest width for which text is laid out.
  package static let narrowest = 20

  /// The width for which text is laid out.
  /// - Parameters:
  ///   - columns: the value of COLUMNS.
  ///   - terminal: the width that the terminal reports; 0 if the terminal reports no width.
  package static func width(columns: String?, terminal: Int) -> Int {
    if let columns = columns.flatMap({ Int($0) }), columns > 0 { return max(narrowest, columns) }
    return terminal > 0 ? max(narrowest, terminal) : 80
  }

  /// Lines of at most `width` characters. A longer word, for example an address, is not broken.
  /// - Parameter indent: the indentation of the lines after the first. The first line keeps its own indentation.
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

  /// One line, cut at the width of the terminal.
  package static func cut(_ text: String, width: Int, ellipsis: String) -> String {
    text.count <= width ? text : text.prefix(max(0, width - ellipsis.count)) + ellipsis
  }

  /// Lines with names and values in two columns. A value that is too long continues on the next line, in its column.
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
