// The values of a command line, read by parameter.

/// The values of one command line.
package struct Values: Sendable {
  private var given: [(name: String, texts: [String])] = []

  init() {}

  package subscript<Value>(parameter: Parameter<Value>) -> Value {
    parameter.value(texts(parameter.argument) ?? [])
  }

  /// Whether the parameter was given. A parameter that was not given has its default value.
  package func has<Value>(_ parameter: Parameter<Value>) -> Bool { texts(parameter.argument) != nil }

  /// The texts that were given for an argument. Use this in a command whose arguments come from a table.
  package func words(_ argument: Argument) -> [String] { texts(argument) ?? [] }

  /// The texts that were given for an argument; nil if the argument was not given.
  func texts(_ argument: Argument) -> [String]? {
    given.first { $0.name == argument.title }?.texts
  }

  mutating func add(_ text: String, to argument: Argument) {
    if let index = given.firstIndex(where: { $0.name == argument.title }) {
      given[index].texts.append(text)
    } else {
      given.append((argument.title, [text]))
    }
  }
}

/// Why a command line is refused.
package struct UsageError: Error, Equatable {
  package let message: String

  package init(_ message: String) { self.message = message }
}

/// The meaning of a command line.
package enum Reading: Sendable {
  case command(Invocation)
  /// A text for standard output; the exit status is 0.
  case output(String)
  /// A message for standard error; the exit status is ``Program/usageStatus``.
  case refusal(String)
}

/// A command with its values.
package struct Invocation: Sendable {
  package let command: Command
  /// The names of the command, beginning with the name of the program.
  package let path: [String]
  package let values: Values
}
