// The completions that a shell gets. Tests/faces/CommandTests/test_completions.py tests how bash, zsh and fish show
// completions.

import Testing

@testable import EnrollArguments

@Suite("Completions")
struct CompletionTests {
  @Test(
    "the last word is completed by what may stand there",
    arguments: [
      ("", ["copy", "run", "paint", "keys", "sets", "help"]), ("co", ["copy"]), ("x", []), ("x ", []),
      ("help ", ["copy", "run", "paint", "keys", "sets"]), ("help ke", ["keys"]), ("help copy ", []),
      ("help keys ", ["add", "remove"]), ("sets ", ["show"]), ("keys re", ["remove"]),
      ("copy --si", ["--size"]), ("copy --hid", []), ("copy --json --js", []),
      ("copy --tag a --ta", ["--tag"]),
      ("copy --hel", ["--help"]), ("copy --json=x --si", ["--size"]),
      ("copy --colour ", ["red", "green", "dark-blue"]), ("copy --colour g", ["green"]),
      ("copy --colour=", ["--colour=red", "--colour=green", "--colour=dark-blue"]),
      ("copy --colour=d", ["--colour=dark-blue"]), ("copy --size ", []), ("copy --nothing=", []),
      ("copy --file ", [":files json"]), ("copy --file=x", [":files json"]), ("copy --folder ", [":folders"]),
      ("copy ", [":files"]), ("copy x ", []), ("copy x y ", []), ("copy -n x ", [":files"]),
      ("copy --name ", ["found-2", "other"]), ("copy -n f", ["found-2"]), ("copy --name=o", ["--name=other"]),
      ("paint ", ["red", "green", "dark-blue"]), ("copy -- ", [":files"]), ("copy -- --js", [":files"]),
      ("run -- ", [":files"]), ("run -- ls --na", [":files"]), ("keys --na", ["--name"]),
    ] as [(String, [String])])
  func offered(line: String, expected: [String]) {
    #expect(Copier.offered(line) == expected)
  }

  @Test("an option is offered with its meaning")
  func meanings() {
    #expect(Copier.output("---complete copy --siz") == "--size\tA size.\n")
  }

  @Test("the scripts name the program and its function, and no other", arguments: Shell.allCases)
  func scripts(shell: Shell) {
    let program = Program(Command("a-b", "Tests.", arguments: []), version: "1", usageStatus: 64)
    let script = program.completionScript(for: shell)
    #expect(script.contains("a-b ---complete ") && script.contains("_a_b") && script.hasSuffix("\n"))
    #expect(!script.contains("enroll"))
  }
}
