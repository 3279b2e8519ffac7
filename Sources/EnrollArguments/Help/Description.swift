// The commands as JSON (--dump-commands), from which the tables of the manual, the man pages and tests are made.

import EnrollJSON

extension Program {
  /// One line of JSON: the root command, with `version`.
  var description: String {
    let members: [(String, JSON?)] = [("version", .string(version))] + root.members
    return String(decoding: JSON.object(members).serialized(), as: UTF8.self) + "\n"
  }
}

extension Command {
  /// The members of a command's object, without hidden arguments.
  fileprivate var members: [(String, JSON?)] {
    let own = arguments.filter { !$0.isHidden }.map { $0.json(group: nil) }
    let shared = groups.flatMap { group in
      group.arguments.filter { !$0.isHidden }.map { $0.json(group: group.title) }
    }
    return [
      ("name", .string(name)), ("abstract", .string(abstract)),
      ("discussion", discussion.isEmpty ? nil : .string(discussion)),
      ("arguments", .array(own + shared)),
      ("commands", subcommands.isEmpty ? nil : .array(subcommands.map { .object($0.members) })),
    ]
  }
}

extension Argument {
  fileprivate func json(group: String?) -> JSON {
    .object([
      ("kind", .string(kind.word)), ("name", .string(name)), ("letter", letter.map { .string($0) }),
      ("synopsis", .string(synopsis)), ("help", .string(help)), ("default", defaultText.map { .string($0) }),
      ("allowed", allowed.isEmpty ? nil : .array(allowed.map { .string($0) })),
      ("repeatable", isRepeatable ? .bool(true) : nil), ("required", isRequired ? .bool(true) : nil),
      ("group", group.map { .string($0) }),
    ])
  }
}

extension Argument.Kind {
  fileprivate var word: String {
    switch self {
    case .flag: "flag"
    case .option: "option"
    case .operand: "operand"
    case .rest: "rest"
    }
  }
}
