// The text of --help: a sentence about the command, its usage, its own options, and its shared options.

/// The usage line of a command.
enum Usage {
  static func line(_ command: Command, _ path: [String]) -> String {
    var words = path
    guard command.subcommands.isEmpty else {
      return (words + ["COMMAND", "[options]"]).joined(separator: " ")
    }
    if command.allArguments.contains(where: { $0.isOption && !$0.isHidden }) { words.append("[options]") }
    for argument in command.allArguments where argument.kind == .operand {
      words.append(argument.isRequired ? argument.title : "[\(argument.title)]")
    }
    if let rest = command.allArguments.first(where: { $0.kind == .rest }) { words.append("-- \(rest.title)") }
    return words.joined(separator: " ")
  }
}

struct HelpText {
  let command: Command
  let path: [String]
  let width: Int

  /// The width of a terminal below which names and meanings do not fit side by side.
  private static let narrow = 64

  var text: String {
    var parts = [paragraph(command.abstract), "Usage: \(Usage.line(command, path))\n"]
    if !command.discussion.isEmpty {
      parts.append(Self.lines(command.discussion).map { paragraph($0) }.joined())
    }
    let operands = command.arguments.filter { !$0.isOption }
    if !operands.isEmpty { parts.append(section("Operands", operands.map { Self.row($0) })) }
    if !command.subcommands.isEmpty {
      parts.append(section("Commands", command.subcommands.map { ($0.name, $0.abstract) }))
    }
    parts.append(section("Options", ownOptions))
    for group in command.groups {
      parts.append(section(group.title, group.arguments.filter { !$0.isHidden }.map { Self.row($0) }))
    }
    if !command.subcommands.isEmpty {
      parts.append("`\(path.joined(separator: " ")) COMMAND --help` lists a command's options.\n")
    }
    return parts.joined(separator: "\n")
  }

  private var ownOptions: [(name: String, value: String)] {
    command.arguments.filter { $0.isOption && !$0.isHidden }.map { Self.row($0) }
      + [("-h, --help", "Print this help.")]
      + (path.count == 1 ? [("--version", "Print the version.")] : [])
  }

  private static func row(_ argument: Argument) -> (name: String, value: String) {
    (argument.synopsis, argument.help + (argument.defaultText.map { " Default: \($0)." } ?? ""))
  }

  private static func lines(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
  }

  /// A line that begins with a space is an example, and is not wrapped.
  private func paragraph(_ line: String) -> String {
    guard line.utf8.first != UInt8(ascii: " ") else { return line + "\n" }
    return Layout.wrapped(line, width: width).joined(separator: "\n") + "\n"
  }

  private func section(_ title: String, _ rows: [(name: String, value: String)]) -> String {
    let lines =
      width < Self.narrow
      ? rows.flatMap { row in
        ["  " + row.name] + Layout.wrapped("      " + row.value, width: width, indent: 6)
      } : Layout.table(rows, width: width)
    return ([title + ":"] + lines).joined(separator: "\n") + "\n"
  }
}
