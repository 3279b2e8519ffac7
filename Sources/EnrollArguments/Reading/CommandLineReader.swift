// Reads a command line: finds the command, then its values. Names cannot be abbreviated, because a script must not
// change its meaning when an option is added.

import EnrollRules

struct CommandLineReader {
  let program: Program
  let width: Int?

  func read(_ words: [String]) -> Reading {
    var path = [program.root.name]
    var command = program.root
    var rest = words[...]
    while !command.subcommands.isEmpty {
      let word = rest.first ?? ""
      if let next = command.subcommand(word) {
        rest.removeFirst()
        command = next
      } else if let answer = answer(to: word, rest, command, path) {
        return answer
      } else if let next = command.defaultSubcommand.flatMap({ command.subcommand($0) }) {
        command = next
      } else {
        return .refusal(program.refusal(unknown(word, command, path), path))
      }
      path.append(command.name)
    }
    do throws(UsageError) {
      var values = ValueReader(command)
      switch try values.read(rest) {
      case .help: return .output(help(command, path))
      case .version: return .output(versionLine)
      case .values(let values): return .command(Invocation(command: command, path: path, values: values))
      }
    } catch {
      // A user who adds --help to an invalid line wants to see the help.
      if Self.asksForHelp(rest) { return .output(help(command, path)) }
      return .refusal(program.refusal(error, path))
    }
  }

  /// The answer to a word that stands in place of a subcommand, but is for the program itself, such as `help`; nil
  /// for any other word.
  private func answer(
    to word: String, _ rest: ArraySlice<String>, _ command: Command, _ path: [String]
  ) -> Reading? {
    switch word {
    case "" where rest.isEmpty && command.defaultSubcommand == nil, "-h", "--help":
      return .output(help(command, path))
    case "--version": return .output(versionLine)
    case "help" where path.count == 1: return helpAbout(rest.dropFirst())
    default: return nil
    }
  }

  private func helpAbout(_ names: ArraySlice<String>) -> Reading {
    var path = [program.root.name]
    var command = program.root
    for name in names {
      // `help SUBCOMMAND` is enough: the name of the subcommand's command may be left out.
      let inner = path.count == 1 ? command.subcommands.first { $0.subcommand(name) != nil } : nil
      if command.subcommand(name) == nil, let inner {
        command = inner
        path.append(inner.name)
      }
      guard let next = command.subcommand(name) else {
        return .refusal(program.refusal(unknown(name, command, path), path))
      }
      command = next
      path.append(name)
    }
    return .output(help(command, path))
  }

  private func unknown(_ word: String, _ command: Command, _ path: [String]) -> UsageError {
    if word.utf8.first == UInt8(ascii: "-") {
      return UsageError("\(Given.option(word)) is not an option here: options stand after the command.")
    }
    let names = command.subcommands.map { $0.name } + (path.count == 1 ? ["help"] : [])
    let meant = EditDistance.nearest(to: word, among: names)
      .map { " Did you mean \((path + [$0]).joined(separator: " "))?" }
    return UsageError("there is no command \(Given.text(word)).\(meant ?? "")")
  }

  private func help(_ command: Command, _ path: [String]) -> String {
    HelpText(command: command, path: path, width: width ?? 80).text
  }

  private var versionLine: String { "\(program.root.name) \(program.version)\n" }

  private static func asksForHelp(_ words: ArraySlice<String>) -> Bool {
    words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
  }
}

/// The user's words in an error message: limited in length, and without control characters, which a terminal would
/// obey.
enum Given {
  static func text(_ word: String) -> String { PrintableText.bounded(word, maximumBytes: 64) }

  /// An option without its value, because the value may be a secret.
  static func option(_ word: String) -> String {
    text(String(decoding: word.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
  }
}
