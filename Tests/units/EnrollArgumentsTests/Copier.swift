// A program with an argument of each kind, which the tests parse, explain and complete.

@testable import EnrollArguments

enum Copier {
  enum Colour: String, CaseIterable { case red, green, blue = "dark-blue" }

  static let json = Parameter.flag("json", help: "Print JSON.")
  static let verbose = Parameter.flag("verbose", letter: "v", help: "Say more.")
  static let name = Parameter.option(
    "name", letter: "n", value: "name", help: "A name.",
    completion: .found { words in ["found-\(words.count)", "other"] })
  static let file = Parameter.option(
    "file", value: "path", help: "A file.", completion: .files(extension: "json"))
  static let folder = Parameter.option("folder", value: "path", help: "A folder.", completion: .folders)
  static let word = Parameter.option("word", value: "word", help: "A word.", default: "usual")
  static let tag = Parameter.repeated("tag", letter: "t", value: "tag", help: "A tag. Repeatable.")
  static let size = Parameter.option("size", value: "bytes", help: "A size.", in: 0...100, default: 7)
  static let port = Parameter.option("port", value: "number", help: "A port.", in: -5...65_535)
  static let colour = Parameter.choice("colour", value: "colour", help: "A colour.", default: Colour.green)
  static let shade = Parameter.choice("shade", value: "colour", help: "A shade.", of: Colour.self)
  static let hidden = Parameter.option(
    "hidden", value: "number", help: "For tests.", in: 0...9, default: 3, isHidden: true)
  static let from = Parameter.operand("from", help: "The source.", completion: .files(extension: nil))
  static let to = Parameter.optionalOperand("to", help: "The target.")
  static let kind = Parameter.operand("kind", help: "A colour.", of: Colour.self)
  static let rest = Parameter.rest("command", help: "After --.", whenMissing: "No program is named.")

  static let shared = Group("Shared", [json.argument])

  static let copy = Command(
    "copy", "Copy a thing.", discussion: "A paragraph.\n\n  an example   that keeps its blanks",
    arguments: [
      verbose.argument, name.argument, file.argument, folder.argument, word.argument, tag.argument,
      size.argument, port.argument, colour.argument, shade.argument, hidden.argument, from.argument,
      to.argument,
    ], groups: [shared])
  static let run = Command(
    "run", "Run a thing.", arguments: [name.argument, rest.argument], groups: [shared])
  static let paint = Command("paint", "Paint a thing.", arguments: [kind.argument])
  static let add = Command("add", "Add a key.", arguments: [name.argument])
  static let keys = Command(
    "keys", "Handle keys.", subcommands: [add, Command("remove", "Remove a key.")], defaultSubcommand: "add")
  static let sets = Command("sets", "Handle sets.", subcommands: [Command("show", "Show a set.")])

  static let program = Program(
    Command("copier", "Copies things.", subcommands: [copy, run, paint, keys, sets]), version: "1.2.3",
    usageStatus: 64)

  static func words(_ line: String) -> [String] { line.split(separator: " ").map { String($0) } }

  static func read(_ line: String) -> Reading { program.read(words(line)) }

  /// The values of a command line; nil if the program refuses the line.
  static func values(_ words: [String]) -> Values? {
    if case .command(let invocation) = program.read(words) { invocation.values } else { nil }
  }

  static func output(_ line: String) -> String? {
    if case .output(let text) = read(line) { text } else { nil }
  }

  static func refusal(_ line: String) -> String? {
    if case .refusal(let text) = read(line) { text } else { nil }
  }

  /// The completions for a command line. A space at the end of the line begins another word.
  static func offered(_ line: String) -> [String] {
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map { String($0) }
    guard case .output(let text) = program.read(["---complete"] + words) else {
      return ["nothing was answered"]
    }
    return text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
  }
}
