// An output stream that users read, and its features: colours, width, and characters beyond ASCII.

import CPosix
import EnrollArguments

/// The features of an output stream. They are determined only once.
struct Terminal {
  static let errors = Terminal(STDERR_FILENO)
  static let output = Terminal(STDOUT_FILENO)
  /// Whether the program can ask a user, which needs terminals as stdin and stderr.
  static let hasPerson = isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0

  let descriptor: Int32
  let isTerminal: Bool
  /// Whether the cursor can be moved.
  let canMove: Bool
  let hasColour: Bool
  /// The width in columns; nil if lines are not wrapped.
  let width: Int?
  let signs: Signs

  init(_ descriptor: Int32, environment: Environment = .process) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) != 0
    let isDumb = (environment["TERM"] ?? "dumb") == "dumb"
    canMove = isTerminal && !isDumb
    hasColour = canMove && environment["NO_COLOR"] == nil
    width =
      isTerminal
      ? Layout.width(columns: environment["COLUMNS"], terminal: Int(enroll_posix_columns(descriptor))) : nil
    signs = Signs(environment)
  }

  enum Colour: String {
    case good = "32", warning = "33", bad = "31", strong = "1"
  }

  func painted(_ text: String, _ colour: Colour?) -> String {
    guard hasColour, let colour else { return text }
    return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
  }

  func write(_ text: String) { Output.write(text, to: descriptor) }

  /// Prints a wrapped sentence; its first word, a sign, is coloured.
  /// - Parameter indent: the indent of the lines after the first.
  func say(_ text: String, in colour: Colour? = nil, indent: Int = 2) {
    for (index, line) in Layout.wrapped(text, width: width, indent: indent).enumerated() {
      let paintedWord = index == 0 ? line.prefix { $0 != " " } : ""
      write(painted(String(paintedWord), colour) + line.dropFirst(paintedWord.count) + "\n")
    }
  }

  /// Prints a URL on a separate line without wrapping, so that the user can copy it.
  func say(address: String) { write("\n  \(address)\n\n") }

  /// Prints a failure and its advice.
  func tell(_ failure: Failure, _ said: Said) {
    say("enroll: \(Shown.message(failure.message))", in: .bad)
    if let advice = failure.advice { say("  " + advice.text(said)) }
  }
}

/// Signs, with characters beyond ASCII if the locale supports them.
struct Signs {
  let good: String
  let warning = "!"
  let bad: String
  let frames: [String]
  let ellipsis: String
  let isUTF8: Bool

  init(_ environment: Environment) {
    let locale = environment["LC_ALL"] ?? environment["LC_CTYPE"] ?? environment["LANG"] ?? ""
    isUTF8 = ["utf-8", "utf8"].contains { locale.lowercased().hasSuffix($0) }
    good = isUTF8 ? "✓" : "+"
    bad = isUTF8 ? "✗" : "x"
    frames = isUTF8 ? ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] : ["|", "/", "-", "\\"]
    ellipsis = isUTF8 ? "…" : "..."
  }
}
