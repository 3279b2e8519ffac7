// One option, flag or operand of a command: what help, completions, the manual and the reader need to know about it.

/// A word or a pair of words that a command takes. ``Parameter`` makes one together with the type of its value.
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
  /// Without dashes; of an operand the word that help shows in capitals.
  package let name: String
  /// The short name, without its dash.
  package let letter: String?
  /// The name of the value in help, in capitals there; empty for a flag.
  package let valueName: String
  package let help: String
  /// As help shows it.
  package let defaultText: String?
  /// The only values that are valid; empty if others are as well.
  package let allowed: [String]
  package let isRepeatable: Bool
  /// Whether a command line without it is refused.
  package let isRequired: Bool
  /// Left out of help, of completions and of the manual.
  package let isHidden: Bool
  package let completion: Completion
  /// The error where a required argument is missing; nil for the usual words.
  let whenMissing: String?
  /// Says what a value must be; nil for a valid value.
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

  /// Whether it is written with dashes.
  var isOption: Bool { kind == .flag || kind == .option }

  /// As error texts name it: `--name`, or `NAME`.
  var title: String { isOption ? "--" + name : ASCIIText.capitals(name) }

  /// As help shows it: `-y, --yes`, `--store FOLDER`, `NAME`.
  var synopsis: String {
    let value = valueName.isEmpty ? "" : " " + ASCIIText.capitals(valueName)
    return (letter.map { "-\($0), " } ?? "") + title + (isOption ? value : "")
  }
}

/// Where a shell finds the values that it offers.
package enum Completion: Sendable {
  case none
  /// Files whose name ends with this extension, or all; folders on the way to them.
  case files(extension: String?)
  case folders
  case words([String])
  /// Found by the program when the shell asks, from the words before the one to complete.
  case found(@Sendable ([String]) -> [String])
}

/// The options that several commands share, under a title of their own in help.
package struct Group: Sendable {
  package let title: String
  package let arguments: [Argument]

  package init(_ title: String, _ arguments: [Argument]) {
    self.title = title
    self.arguments = arguments
  }
}
