// Reads the words after a command's name.

import EnrollRules

struct ValueReader {
  enum Outcome {
    case values(Values)
    case help, version
  }

  private let arguments: [Argument]
  private var values = Values()
  private var operands: [String] = []

  init(_ command: Command) { arguments = command.allArguments }

  mutating func read(_ words: ArraySlice<String>) throws(UsageError) -> Outcome {
    var rest = words
    while let word = rest.popFirst() {
      switch word {
      case "-h", "--help": return .help
      case "--version" where option("version") == nil: return .version
      case "--":
        try take(afterDashes: rest)
        rest = []
      case _ where Self.isOption(word): try readOption(word, &rest)
      default: try take(operand: word)
      }
    }
    try assignOperands()
    for argument in arguments where argument.isRequired && values.texts(argument) == nil {
      throw Self.missing(argument)
    }
    return .values(values)
  }

  /// Whether a word is an option. A single dash is an operand, because many programs use it for standard input.
  private static func isOption(_ word: String) -> Bool {
    word.utf8.first == UInt8(ascii: "-") && word.utf8.count > 1
  }

  private func option(_ name: String) -> Argument? { arguments.first { $0.isOption && $0.name == name } }

  // Options.

  private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    let (argument, attached) = try find(word)
    guard argument.kind == .option else {
      guard attached == nil else { throw UsageError("\(argument.title) takes no value.") }
      values.add("", to: argument)
      return
    }
    let given: String
    if let attached {
      given = attached
    } else {
      guard let next = rest.first, !Self.isOption(next) else {
        let dashed = rest.first.map { $0 != "--" } ?? false
        throw UsageError(
          "\(argument.title) needs a value: \(argument.synopsis)."
            + (dashed ? " A value that begins with a dash is written \(argument.title)=VALUE." : ""))
      }
      given = next
      rest.removeFirst()
    }
    guard argument.isRepeatable || values.texts(argument) == nil else {
      throw UsageError("\(argument.title) is given twice.")
    }
    try add(given, to: argument)
  }

  /// The option that a word names, and the value after the word's equals sign.
  private func find(_ word: String) throws(UsageError) -> (Argument, attached: String?) {
    guard word.utf8.starts(with: "--".utf8) else {
      let letter = String(decoding: word.utf8.dropFirst(), as: UTF8.self)
      if let argument = arguments.first(where: { $0.letter == letter }) { return (argument, nil) }
      throw UsageError("there is no option \(Given.option(word)).")
    }
    let equals = word.utf8.firstIndex(of: UInt8(ascii: "="))
    let end = equals ?? word.utf8.endIndex
    let name = String(decoding: word.utf8[..<end].dropFirst(2), as: UTF8.self)
    if let argument = option(name) {
      let attached = equals.map { String(decoding: word.utf8[$0...].dropFirst(), as: UTF8.self) }
      return (argument, attached)
    }
    let names = arguments.filter { $0.isOption && !$0.isHidden }.map { $0.name } + ["help"]
    let meant = EditDistance.nearest(to: name, among: names).map { " Did you mean --\($0)?" }
    throw UsageError("there is no option \(Given.option(word)).\(meant ?? "")")
  }

  // Operands.

  private mutating func take(operand word: String) throws(UsageError) {
    operands.append(word)
    guard let rest = arguments.first(where: { $0.kind == .rest }) else { return }
    throw Self.missing(rest)
  }

  private mutating func take(afterDashes words: ArraySlice<String>) throws(UsageError) {
    guard let rest = arguments.first(where: { $0.kind == .rest }) else {
      operands += words
      return
    }
    for word in words { values.add(word, to: rest) }
  }

  private mutating func assignOperands() throws(UsageError) {
    var left = operands[...]
    for argument in arguments where argument.kind == .operand {
      guard let word = left.popFirst() else { break }
      try add(word, to: argument)
    }
    if let word = left.first { throw UsageError("unexpected word \(Given.text(word)).") }
  }

  private mutating func add(_ text: String, to argument: Argument) throws(UsageError) {
    if let expectation = argument.expectation(text) {
      // The message does not repeat text that was given instead of a number, because the text may be a secret.
      let isShown = !argument.allowed.isEmpty || Int64(text) != nil
      let given = !isShown || text.isEmpty ? "" : ", not " + Given.text(text)
      throw UsageError("\(argument.title) must be \(expectation)\(given).")
    }
    values.add(text, to: argument)
  }

  private static func missing(_ argument: Argument) -> UsageError {
    UsageError(argument.whenMissing ?? "\(argument.title) is missing.")
  }
}
