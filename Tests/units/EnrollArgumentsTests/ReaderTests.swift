// Tests of how command lines are parsed, and which command lines are refused.

import Testing

@testable import EnrollArguments

@Suite("Reading a command line")
struct ReaderTests {
  @Test(
    "a value stands after the name, behind an equals sign, or after the letter",
    arguments: ["--name alice", "--name=alice", "-n alice"])
  func spellings(option: String) throws {
    let values = try #require(Copier.values(Copier.words("copy \(option) here")))
    #expect(values[Copier.name] == "alice")
    #expect(values[Copier.from] == "here")
  }

  @Test(
    "an option's value may be empty, have blanks, equals signs and dashes in it",
    arguments: ["", "a b", "a=b", "-a", "--json", "--", "é"])
  func odd(value: String) throws {
    #expect(try #require(Copier.values(["copy", "--name=\(value)", "x"]))[Copier.name] == value)
    guard value.first != "-" else { return }
    #expect(try #require(Copier.values(["copy", "--name", value, "x"]))[Copier.name] == value)
  }

  @Test("what is not given is its default, nil or empty")
  func defaults() throws {
    let values = try #require(Copier.values(["copy", "x"]))
    #expect(!values[Copier.json] && !values[Copier.verbose])
    #expect(values[Copier.name] == nil && values[Copier.port] == nil && values[Copier.shade] == nil)
    #expect(values[Copier.word] == "usual" && values[Copier.size] == 7 && values[Copier.colour] == .green)
    #expect(values[Copier.tag] == [] && values[Copier.to] == nil && values[Copier.hidden] == 3)
  }

  @Test("every kind of value is read")
  func kinds() throws {
    let line =
      "copy --json -v --size 100 --port=-5 --colour dark-blue --shade red -t a --tag=b --hidden 9 x y"
    let values = try #require(Copier.values(Copier.words(line)))
    #expect(values[Copier.json] && values[Copier.verbose])
    #expect(values[Copier.size] == 100 && values[Copier.port] == -5 && values[Copier.hidden] == 9)
    #expect(values[Copier.colour] == .blue && values[Copier.shade] == .red)
    #expect(values[Copier.tag] == ["a", "b"] && values[Copier.from] == "x" && values[Copier.to] == "y")
    #expect(try #require(Copier.values(["paint", "red"]))[Copier.kind] == .red)
  }

  @Test(
    "operands stand anywhere, and after two dashes everything is one",
    arguments: [
      "copy a b --json", "copy a --json b", "copy --json a b", "copy --json -- a b", "copy a --json -- b",
    ])
  func operands(line: String) throws {
    let values = try #require(Copier.values(Copier.words(line)))
    #expect(values[Copier.from] == "a" && values[Copier.to] == "b" && values[Copier.json])
  }

  @Test("after two dashes an option's name is an operand, and a dash alone always is")
  func dashes() throws {
    #expect(try #require(Copier.values(["copy", "--", "--json", "--"]))[Copier.from] == "--json")
    #expect(try #require(Copier.values(["copy", "-"]))[Copier.from] == "-")
    #expect(try #require(Copier.values(["copy", "--name", "-", "x"]))[Copier.name] == "-")
  }

  @Test("the words of another program stand after two dashes alone, as they are")
  func rest() throws {
    let values = try #require(Copier.values(["run", "--json", "--", "ls", "--", "-n", "--help", ""]))
    #expect(values[Copier.rest] == ["ls", "--", "-n", "--help", ""])
    #expect(values[Copier.name] == nil && values[Copier.json])
    for line in ["run", "run --", "run ls", "run ls -- x", "run --json"] {
      #expect(Copier.refusal(line)?.contains("copier run: No program is named.\n") == true, "\(line)")
    }
  }

  @Test(
    "what is refused says why, shows the usage and names the help",
    arguments: [
      ("copy", "FROM is missing."), ("copy a b c", "unexpected word c."),
      ("copy --jsn a", "there is no option --jsn. Did you mean --json?"),
      ("copy --js a", "there is no option --js. Did you mean --json?"),
      ("copy --frobnicate=secret a", "there is no option --frobnicate."),
      ("copy --hiden 3 a", "there is no option --hiden."),
      ("copy -x a", "there is no option -x."), ("copy -vt a", "there is no option -vt."),
      ("copy -n=x a", "there is no option -n."), ("copy --=x a", "there is no option --."),
      ("copy --json=true a", "--json takes no value."), ("copy --json= a", "--json takes no value."),
      ("copy --name", "--name needs a value: -n, --name NAME."),
      ("copy --name --json a", "A value that begins with a dash is written --name=VALUE."),
      ("copy --name -- a", "--name needs a value: -n, --name NAME.\n"),
      ("copy --name a --name b c", "--name is given twice."),
      ("copy -n a --name=b c", "--name is given twice."),
      ("copy --size 101 a", "--size must be a number from 0 to 100, not 101."),
      ("copy --size -1 a", "--size needs a value"), ("copy --size=-1 a", "--size must be"),
      ("copy --size=+1 a", "--size must be"), ("copy --size= a", "--size must be"),
      ("copy --size 1e3 a", "--size must be a number from 0 to 100.\n"),
      ("copy --size 99999999999999999999 a", "--size must be a number from 0 to 100.\n"),
      ("copy --colour gren a", "--colour must be red, green or dark-blue, not gren."),
      ("copy --colour= a", "--colour must be red, green or dark-blue."),
      ("paint pink", "KIND must be red, green or dark-blue, not pink."), ("paint", "KIND is missing."),
    ])
  func refused(line: String, complaint: String) throws {
    let text = try #require(Copier.refusal(line))
    #expect(text.contains(complaint))
    let path = "copier " + line.prefix { $0 != " " }
    #expect(text.hasPrefix(path + ": "))
    #expect(text.contains("\nUsage: \(path) "))
    #expect(text.hasSuffix("\nSee `\(path) --help`.\n"))
    #expect(!text.contains("secret"))
  }

  @Test(
    "a command that is not there is refused, with the one that was meant",
    arguments: [
      ("cpoy x", "copier: there is no command cpoy. Did you mean copier copy?"),
      ("hlep", "Did you mean copier help?"),
      ("sets shw", "copier sets: there is no command shw. Did you mean copier sets show?"),
      ("help cpoy", "Did you mean copier copy?"), ("bogus", "copier: there is no command bogus.\n"),
      ("--json copy x", "copier: --json is not an option here: options stand after the command."),
      ("copy\u{1B}[2J x", "there is no command copy?[2J."),
    ])
  func commands(line: String, complaint: String) throws {
    #expect(try #require(Copier.refusal(line)).contains(complaint))
  }

  @Test("a command's default subcommand is meant where none is named")
  func defaultSubcommand() throws {
    for line in ["keys -n x", "keys add -n x"] {
      guard case .command(let invocation) = Copier.read(line) else {
        Issue.record("\(line) is refused")
        continue
      }
      #expect(invocation.path == ["copier", "keys", "add"] && invocation.values[Copier.name] == "x")
    }
    guard case .command(let invocation) = Copier.read("keys remove") else {
      Issue.record("keys remove is refused")
      return
    }
    #expect(invocation.path == ["copier", "keys", "remove"])
  }

  @Test("a command's own complaint is printed as the reader's, and its exit status is the program's")
  func action() {
    let command = Command("check", "Checks.", arguments: [Copier.size.argument]) {
      values throws(UsageError) in
      guard values[Copier.size] < 50 else { throw UsageError("That is too large.") }
      return Int32(values[Copier.size])
    }
    let program = Program(command, version: "1", usageStatus: 64)
    var output = ""
    var errors = ""
    func run(_ words: String...) -> Int32 {
      program.run(words, output: { output += $0 }, errors: { errors += $0 })
    }
    #expect(run("--size", "5") == 5 && output.isEmpty && errors.isEmpty)
    #expect(run("--size", "50") == 64)
    #expect(errors == "check: That is too large.\nUsage: check [options]\nSee `check --help`.\n")
    #expect(run("--version") == 0 && output == "check 1\n")
    #expect(run("--size", "x") == 64)
  }

  @Test("1,000 lines of random words are read or refused, and never repeat a control character")
  func random() {
    var generator = Words(state: 0x5EED)
    for _ in 0..<1000 {
      let line = generator.line()
      switch Copier.program.read(line, width: Int(generator.next() % 90) + 20) {
      case .command(let invocation):
        // Every value of a command that was accepted can be read.
        _ = invocation.values[Copier.size]
        _ = invocation.values[Copier.rest]
        #expect(
          !invocation.command.arguments.contains { $0.isRequired && invocation.values.texts($0) == nil })
      case .output(let text): #expect(!text.isEmpty || line.first == "---complete")
      case .refusal(let text):
        #expect(!text.utf8.contains { $0 < 0x20 && $0 != 0x0A || $0 == 0x7F }, "\(line)")
      }
    }
  }
}

/// Random command lines of words that are similar to the program's. The same seed gives the same lines.
private struct Words: RandomNumberGenerator {
  var state: UInt64

  private static let known = [
    "copy", "run", "paint", "keys", "add", "sets", "show", "help", "--", "-", "-v", "-n", "-t", "--json",
    "--name",
    "--name=", "--size", "--size=5", "--colour", "red", "x", "---complete", "--help", "-h", "--version",
    "--dump-commands", "", "=", "--=", "--size=99999999999999999999", "\u{1B}[2J", "é", "\u{202E}",
  ]

  /// xorshift64*.
  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }

  mutating func line() -> [String] {
    let first = next() % 4 == 0 ? [] : [["copy", "run", "paint", "keys"][Int(next() % 4)]]
    return first + (0..<next() % 8).map { _ in word() }
  }

  private mutating func word() -> String {
    let known = Self.known[Int(next() % UInt64(Self.known.count))]
    guard next() % 3 == 0 else { return known }
    var bytes = Array(known.utf8)
    for _ in 0..<next() % 4 {
      let place = Int(next() % UInt64(bytes.count + 1))
      if next() % 2 == 0 || bytes.isEmpty {
        bytes.insert(UInt8(truncatingIfNeeded: next()), at: place)
      } else {
        bytes.remove(at: min(place, bytes.count - 1))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
