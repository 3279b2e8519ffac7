// The spinner that is shown during a wait. It turns on a terminal whose cursor can move; on any other terminal its text
// is printed once.

import CPosix
import EnrollArguments

/// One line on stderr that is redrawn, and removed at the end. The cursor stays below this line, at the start of an
/// empty line: if the program ends or stops, the shell's prompt starts on an empty line. This type is a class, because
/// a spinner counts its turns.
final class Spinner {
  private static let frameMilliseconds: Int32 = 90
  /// A shorter wait shows no spinner, which would only flicker.
  private static let timeoutMilliseconds: Int32 = 200

  private let words: String
  private let terminal: Terminal
  private var turns = 0
  private var isDrawn = false

  init(_ words: String, on terminal: Terminal = .errors) {
    self.words = words
    self.terminal = terminal
  }

  /// The time until the next turn; nil if the spinner does not turn.
  var milliseconds: Int32? {
    guard terminal.canMove else { return nil }
    return turns == 1 ? Self.timeoutMilliseconds : Self.frameMilliseconds
  }

  func turn() {
    defer { turns += 1 }
    guard terminal.canMove else {
      if terminal.isTerminal, turns == 0 { terminal.write(words + "\n") }
      return
    }
    guard turns > 0 else { return }
    let frame = terminal.signs.frames[turns % terminal.signs.frames.count]
    let line = Layout.cut(
      words, width: (terminal.width ?? 80) - 3, ellipsis: terminal.signs.ellipsis)
    let up = isDrawn ? Self.up : "\r\u{1B}[K"
    terminal.write("\(up)\(terminal.painted(frame, .strong)) \(line)\n")
    isDrawn = true
  }

  func clear() {
    if isDrawn { terminal.write(Self.up) }
    isDrawn = false
  }

  /// Moves to the line above, and clears it.
  private static let up = "\u{1B}[A\r\u{1B}[K"
}
