// An option, flag or operand of a command, with everything that help, completions, the manual and the parser need.

/// An argument that a command accepts: one word, or an option's name and its value. ``Parameter`` combines an argument
/// with the type of its value.
package struct Argument: Sendable {
  package enum Kind: Sendable, Equatable {
    /// `--name`, without a value.
    case flag
    /// `--name VALUE`.
    case option
    /// A word without dashes.
    case operand
    /// Every word after `--`.
    case rest
  }

  package let kind: Kind
  /// The name without dashes. For an operand, help shows the name in capitals.
  package let name: String
  /// The short name, without its dash.
  package let letter: String?
  /// The name of the value, which help shows in capitals; empty for a flag.
  package let valueName: String
  package let help: String
  /// The default value, as help shows it.
  package let defaultText: String?
  /// The only valid values; empty if other values are valid too.
  package let allowed: [String]
  package let isRepeatable: Bool
  /// Whether a command line without the argument is refused.
  package let isRequired: Bool
  /// Whether help, completions and the manual leave the argument out.
  package let isHidden: Bool
  package let completion: Completion
  /// The error message for a command line without this required argument; nil for the usual message.
  let whenMissing: String?
  /// Returns a description of valid values if the given value is not valid; nil if it is valid.
  let expectation: @Sendable (String) -> String?

  init(
    _ kind: Kind, _ name: String, letter: String? = nil, valueName: String = "", help: String,
    defaultText: String? = nil, allowed: [String] = [], isRepeatable: Bool = false, isRequired: Bool = false,
    isHidden: Bool = false, completion: Completion = .none, whenMissing: String? = nil,
    expectation: @escaping @Sendable (String) -> String? = { _ in nil }
  ) {
    self.kind = kind
    self.name = name
    self.letter = letter
    self.valueName = valueName
    self.help = help
    self.defaultText = defaultText
    self.allowed = allowed
    self.isRepeatable = isRepeatable
    self.isRequired = isRequired
    self.isHidden = isHidden
    self.completion = completion
    self.whenMissing = whenMissing
    self.expectation = expectation
  }

  /// Whether the argument is written with dashes.
  var isOption: Bool { kind == .flag || kind == .option }

  /// The argument's name in error messages: `--name`, or `NAME`.
  var title: String { isOption ? "--" + name : ASCIIText.capitals(name) }

  /// The argument as help shows it: `-y, --yes`, `--store FOLDER`, `NAME`.
  var synopsis: String {
    let value = valueName.isEmpty ? "" : " " + ASCIIText.capitals(valueName)
    return (letter.map { "-\($0), " } ?? "") + title + (isOption ? value : "")
  }
}

/// The source of the values that a shell offers.
package enum Completion: Sendable {
  case none
  /// Files with this extension, or all files if `extension` is nil. Also folders, because such files may be inside
  /// them.
  case files(extension: String?)
  case folders
  case words([String])
  /// The words from this argument on are another command line. The shell completes that command line as if it stood
  /// alone.
  case commandLine
  /// Values that the program finds when the shell asks. The function gets the words before the word to complete.
  case found(@Sendable ([String]) -> [String])
}

/// Options that several commands share. Help shows them under this title.
package struct Group: Sendable {
  package let title: String
  package let arguments: [Argument]

  package init(_ title: String, _ arguments: [Argument]) {
    self.title = title
    self.arguments = arguments
  }
}
