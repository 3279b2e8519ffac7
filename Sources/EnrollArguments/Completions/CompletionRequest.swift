// The candidates that a shell offers for the last word of a command line. The shell scripts of CompletionScript.swift
// ask the program for these candidates, so that commands, options and their meanings are defined in one place.

struct CompletionRequest {
  /// The word that marks a request of the completion script. The words of the command line follow it, without the
  /// program's name.
  static let word = "---complete"

  let program: Program
  /// The words of the command line. The shell wants completions of the last word, which may be empty.
  let words: [String]

  /// The answer for the completion script. It has a line for each candidate: the word, a tab, its meaning. Or it is a
  /// single line with an instruction for the shell: `:files`, `:files EXTENSION`, `:folders`, or `:command`. `:command`
  /// is for the words after `--`, which are another command line.
  var answer: String {
    guard let current = words.last else { return "" }
    var before = words.dropLast()
    let isHelp = before.first == "help"
    if isHelp { before.removeFirst() }
    var command = program.root
    while !command.subcommands.isEmpty {
      if let next = before.first.flatMap({ command.subcommand($0) }) {
        before.removeFirst()
        command = next
      } else if let next = command.defaultSubcommand.flatMap({ command.subcommand($0) }),
        (before.first ?? current).utf8.first == UInt8(ascii: "-")
      {
        command = next
      } else {
        return before.isEmpty ? names(of: command, current, isHelp: isHelp) : ""
      }
    }
    // The subcommand `help` accepts only names of commands.
    return isHelp ? "" : offer(command, before, current)
  }

  private func names(of command: Command, _ current: String, isHelp: Bool) -> String {
    var offered = command.subcommands.map { (word: $0.name, meaning: $0.abstract) }
    if command.name == program.root.name, !isHelp { offered.append(("help", "Print the help of a command.")) }
    return Self.lines(offered, current)
  }

  private func offer(_ command: Command, _ before: ArraySlice<String>, _ current: String) -> String {
    let arguments = command.allArguments.filter { !$0.isHidden }
    var line = PartialLine(arguments)
    for word in before { line.take(word) }
    if let option = line.waiting { return values(of: option, current, prefix: "") }
    if line.isAfterDashes {
      let operand = arguments.first { $0.kind == .rest } ?? line.nextOperand
      return operand.map { values(of: $0, current, prefix: "") } ?? ""
    }
    guard current.utf8.first == UInt8(ascii: "-") else {
      return line.nextOperand.map { values(of: $0, current, prefix: "") } ?? ""
    }
    if let equals = current.utf8.firstIndex(of: UInt8(ascii: "=")) {
      let name = String(decoding: current.utf8[..<equals], as: UTF8.self)
      guard let option = arguments.first(where: { $0.kind == .option && $0.title == name }) else { return "" }
      return values(of: option, current, prefix: name + "=")
    }
    let offered = arguments.filter { $0.isOption && ($0.isRepeatable || !line.given.contains($0.title)) }
    return Self.lines(offered.map { ($0.title, $0.help) } + [("--help", "Print this help.")], current)
  }

  private func values(of argument: Argument, _ current: String, prefix: String) -> String {
    switch argument.completion {
    case .none: ""
    case .files(let ending): ":files" + (ending.map { " " + $0 } ?? "") + "\n"
    case .folders: ":folders\n"
    case .commandLine: ":command\n"
    case .words(let words): Self.lines(words.map { (prefix + $0, "") }, current)
    case .found(let find): Self.lines(find(words.dropLast()).map { (prefix + $0, "") }, current)
    }
  }

  /// The candidates that begin with the typed text.
  private static func lines(_ candidates: [(word: String, meaning: String)], _ current: String) -> String {
    candidates.filter { $0.word.utf8.starts(with: current.utf8) }
      .map { $0.meaning.isEmpty ? $0.word + "\n" : "\($0.word)\t\($0.meaning)\n" }.joined()
  }
}

/// The state of a command line that is incomplete, and may contain errors.
private struct PartialLine {
  let arguments: [Argument]
  /// The option whose value comes next.
  private(set) var waiting: Argument?
  private(set) var isAfterDashes = false
  private(set) var given: [String] = []
  private var operands = 0

  init(_ arguments: [Argument]) { self.arguments = arguments }

  var nextOperand: Argument? {
    let expected = arguments.filter { $0.kind == .operand }
    return expected.indices.contains(operands) ? expected[operands] : nil
  }

  mutating func take(_ word: String) {
    if waiting != nil {
      waiting = nil
    } else if isAfterDashes || word.utf8.first != UInt8(ascii: "-") {
      operands += 1
    } else if word == "--" {
      isAfterDashes = true
    } else {
      let name = String(decoding: word.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
      guard let found = arguments.first(where: { $0.title == name || $0.letter.map { "-" + $0 } == word })
      else { return }
      given.append(found.title)
      if found.kind == .option, name == word { waiting = found }
    }
  }
}
