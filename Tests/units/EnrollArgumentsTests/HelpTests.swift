// The output of --help, --version and --dump-commands.

import EnrollJSON
import Testing

@testable import EnrollArguments

@Suite("Help")
struct HelpTests {
  @Test("a command's own options stand first, the shared ones last, the hidden ones nowhere")
  func order() throws {
    let text = try #require(Copier.output("copy --help"))
    #expect(
      text.hasPrefix(
        "Copy a thing.\n\nUsage: copier copy [options] FROM [TO]\n\nA paragraph.\n\n  an example   that"))
    let places = ["\nOperands:\n", "\nOptions:\n", "-t, --tag TAG", "-h, --help", "\nShared:\n", "--json"].map
    {
      text.firstRange(of: $0)?.lowerBound
    }
    #expect(!places.contains(nil))
    #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())
    #expect(!text.contains("hidden"))
    #expect(text.contains("A size. Default: 7.") && text.contains("Default: green."))
  }

  @Test("help is the same by every way of asking, also on a line that is wrong")
  func ways() throws {
    let text = try #require(Copier.output("copy --help"))
    for line in [
      "copy -h", "help copy", "copy --size x --help", "copy --frobnicate -h", "copy --name --help",
    ] {
      #expect(Copier.output(line) == text, "\(line)")
    }
    let root = try #require(Copier.output(""))
    for line in ["--help", "-h", "help"] { #expect(Copier.output(line) == root) }
    #expect(root.contains("Usage: copier COMMAND [options]\n"))
    #expect(root.contains("  paint  Paint a thing.\n"))
    #expect(Copier.output("sets")?.contains("Usage: copier sets COMMAND [options]\n") == true)
    #expect(Copier.output("help keys add") == Copier.output("keys add --help"))
    #expect(Copier.output("run --help")?.contains("Usage: copier run [options] -- COMMAND\n") == true)
  }

  @Test("--help after two dashes, and as a value, is a word like others")
  func words() {
    #expect(Copier.values(["run", "--", "--help"])?[Copier.rest] == ["--help"])
    #expect(Copier.values(["copy", "--name=--help", "x"])?[Copier.name] == "--help")
  }

  @Test("no line is longer than the terminal, in two columns or in one", arguments: [40, 63, 64, 80, 120])
  func width(columns: Int) {
    guard case .output(let text) = Copier.program.read(["copy", "--help"], width: columns) else {
      Issue.record("no help")
      return
    }
    for line in text.split(separator: "\n") where !line.contains("an example") {
      #expect(line.count <= columns, "\(line)")
    }
  }

  @Test("the version is one line, asked for before or after a command")
  func version() {
    for line in ["--version", "copy --version", "keys --version"] {
      #expect(Copier.output(line) == "copier 1.2.3\n")
    }
  }

  @Test("the description in JSON has every command and argument but the hidden ones")
  func description() throws {
    let text = try #require(Copier.output("--dump-commands"))
    let root = try JSON.parse(Array(text.utf8))
    #expect(root["name"]?.string == "copier" && root["version"]?.string == "1.2.3")
    let commands = try #require(root["commands"]?.array)
    #expect(commands.map { $0["name"]?.string } == ["copy", "run", "paint", "keys", "sets"])
    let arguments = try #require(commands[0]["arguments"]?.array)
    #expect(arguments.count == Copier.copy.allArguments.count - 1)
    let tag = try #require(arguments.first { $0["name"]?.string == "tag" })
    #expect(tag["synopsis"]?.string == "-t, --tag TAG" && tag["repeatable"]?.bool == true)
    let colour = try #require(arguments.first { $0["name"]?.string == "colour" })
    #expect(colour["allowed"]?.array?.count == 3 && colour["default"]?.string == "green")
    #expect(arguments.last?["group"]?.string == "Shared")
    #expect(commands[1]["arguments"]?.array?.contains { $0["kind"]?.string == "rest" } == true)
    #expect(commands[4]["commands"]?.array?.count == 1)
  }
}
