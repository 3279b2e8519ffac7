// A process that is killed with SIGKILL before or after any one of its file operations, in every change that the store knows
// (reliability.md, Proof): the next process finds the old state or the new one, the new one where it was acknowledged, goes
// on with it, and leaves nothing lying about. The changes and the processes are those of `store-probe`.

import EnrollCore
import EnrollHost
import EnrollTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(20)))
struct KillPointTests {
  private let folder = TestFolder()

  /// Every operation; but of what derives a key from a PIN only some, unless there is time.
  private static func step(_ isDear: Bool) -> Int { isDear && !isTorture ? 17 : 1 }

  private struct Outcome {
    var killed = 0
    var problems: [String] = []
  }

  @Test("whoever is killed at any file operation of any change loses nothing, and leaves nothing in the way")
  func everyPoint() async throws {
    try await aside { [self] in
      let changes = try Probe.run("changes", folder.path)
      #expect(changes.count >= 16)
      let outcome = Guarded(Outcome(), by: Mutex())
      let rest = Guarded(changes, by: Mutex())
      together(2) { _ in
        while let change = rest.withLock({ $0.popLast() }) { run(change, outcome) }
      }
      let (killed, problems) = outcome.withLock { ($0.killed, $0.problems) }
      print("killed \(killed) processes in \(changes.count) changes")
      #expect(problems.isEmpty, "\(problems.count): \(problems.prefix(5))")
      #expect(killed > 1500)
    }
  }

  private func run(_ change: String, _ outcome: Guarded<Outcome>) {
    let words = change.split(separator: " ").map(String.init)
    let path = folder.path + "/" + words[0]
    mkdir(path, 0o700)
    let said =
      (try? Probe.run("kill-points", path, words[0], "\(Self.step(words.count > 1))")) ?? ["no probe"]
    let last = said.last?.split(separator: " ").map(String.init) ?? []
    outcome.withLock { outcome in
      if last.first == "killed", last.count > 1, let killed = Int(last[1]), killed > 0 {
        outcome.killed += killed
        outcome.problems += said.dropLast()
      } else {
        outcome.problems.append("\(change): \(said.suffix(3))")
      }
    }
  }
}
