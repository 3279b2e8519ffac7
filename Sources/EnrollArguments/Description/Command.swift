// A command, and a program with its commands. The reader, help, completions and the manual use these values.

/// A command. It has either arguments or subcommands.
package struct Command: Sendable {
  package let name: String
  /// One sentence.
  package let abstract: String
  /// The rest of the help text, in paragraphs. A line that begins with a space is printed unchanged.
  package let discussion: String
  /// The arguments that belong only to this command.
  package let arguments: [Argument]
  /// Options that the command shares with other commands. Help shows them last.
  package let groups: [Group]
  package let subcommands: [Command]
  /// The subcommand that runs if the command line names no subcommand.
  package let defaultSubcommand: String?
  /// Runs the command. The result is the exit status.
  package let action: (@Sendable (Values) throws(UsageError) -> Int32)?

  package init(
    _ name: String, _ abstract: String, discussion: String = "", arguments: [Argument] = [],
    groups: [Group] = [], subcommands: [Command] = [], defaultSubcommand: String? = nil,
    action: (@Sendable (Values) throws(UsageError) -> Int32)? = nil
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.arguments = arguments
    self.groups = groups
    self.subcommands = subcommands
    self.defaultSubcommand = defaultSubcommand
    self.action = action
  }

  /// The command's own arguments, followed by the shared options.
  var allArguments: [Argument] { groups.reduce(arguments) { $0 + $1.arguments } }

  func subcommand(_ name: String) -> Command? { subcommands.first { $0.name == name } }
}

/// A program. Its root command has the program's name.
package struct Program: Sendable {
  package let root: Command
  /// The line that `--version` prints.
  package let version: String
  /// The exit status for a command line that is refused.
  package let usageStatus: Int32

  package init(_ root: Command, version: String, usageStatus: Int32) {
    self.root = root
    self.version = version
    self.usageStatus = usageStatus
  }

  /// Reads a command line, and runs the command that it names.
  /// - Parameters:
  ///   - words: the command line without the program's name.
  ///   - width: the width of the terminal; nil if the output goes elsewhere.
  ///   - output: writes help, a version or completions to standard output.
  ///   - errors: writes the errors of the command line to standard error.
  /// - Returns: the exit status.
  package func run(
    _ words: [String], width: Int? = nil, output: (String) -> Void, errors: (String) -> Void
  ) -> Int32 {
    switch read(words, width: width) {
    case .output(let text):
      output(text)
      return 0
    case .refusal(let text):
      errors(text)
      return usageStatus
    case .command(let invocation):
      guard let action = invocation.command.action else { return usageStatus }
      do throws(UsageError) {
        return try action(invocation.values)
      } catch {
        errors(refusal(error, invocation.path))
        return usageStatus
      }
    }
  }

  /// Reads a command line, for a program that runs the command itself.
  package func read(_ words: [String], width: Int? = nil) -> Reading {
    if let answer = answer(toTools: words) { return .output(answer) }
    return CommandLineReader(program: self, width: width).read(words)
  }

  /// The output for a shell's completion script, or for the generator of the manual; nil for any other command line.
  private func answer(toTools words: [String]) -> String? {
    guard let first = words.first else { return nil }
    switch first {
    case CompletionRequest.word:
      return CompletionRequest(program: self, words: Array(words.dropFirst())).answer
    case "--dump-commands" where words.count == 1: return description
    default: return nil
    }
  }

  /// The message for a command line that is refused.
  /// - Parameter path: the full name of the command: the program's name, and then the names of subcommands.
  package func refusal(_ error: UsageError, _ path: [String]) -> String {
    let line = path.joined(separator: " ")
    let usage = command(at: path).map { "Usage: " + Usage.line($0, path) + "\n" } ?? ""
    return "\(line): \(error.message)\n\(usage)See `\(line) --help`.\n"
  }

  private func command(at path: [String]) -> Command? {
    var command = root
    for name in path.dropFirst() {
      guard let next = command.subcommand(name) else { return nil }
      command = next
    }
    return command
  }
}
