// Every change of the store, interrupted at each of its system calls (reliability.md, How it is shown): by SIGKILL, and
// by an error of the disk. Afterwards the store has the old state or the new one (the new one if it was acknowledged),
// and can still be used. The program `store-probe` makes the changes, and starts the processes.

@testable import EnrollPosix
import EnrollSteps
import EnrollTesting
import Foundation
import StoreSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(30)))
struct InterruptionTests {
  private let folder = TestFolder()

  @Test("whoever is killed at any system call of any change loses nothing, and leaves nothing in the way")
  func killed() async throws {
    // Changes that derive a key from a PIN are slow: in a short run only some of their calls are interrupted.
    let killed = try await interrupt("kill-points") { isDear in isDear && !isTorture ? 17 : 1 }
    print("killed \(killed) processes")
    #expect(killed > 1500)
  }

  @Test(
    "an error of the disk at any system call, once or from then on, has a type, loses nothing, and is over when it is"
  )
  func failing() async throws {
    let failed = try await interrupt("disk-faults") { isDear in
      switch (isDear, isTorture) {
      case (false, false): 7
      case (false, true): 1
      case (true, false): 211
      case (true, true): 7
      }
    }
    print("failed \(failed) calls")
    #expect(failed > (isTorture ? 15_000 : 2000))
  }

  @Test("a look at the folder that the disk ends early loses no key and no record, and makes no new keys")
  func hiddenNames() throws {
    let said = try Probe.run("hidden-names", folder.path)
    let words = said.last?.split(separator: " ") ?? []
    #expect(said.count == 1 && words.count == 5 && (Int(words[1]) ?? 0) > 20, "\(said.suffix(5))")
  }

  fileprivate struct Outcome {
    var count = 0
    var problems: [String] = []
  }

  /// - Parameter step: the distance between two interrupted calls. The argument of `step` says whether the change is
  ///   slow.
  /// - Returns: the number of interruptions.
  private func interrupt(_ how: String, step: @escaping @Sendable (Bool) -> Int) async throws -> Int {
    let folder = folder
    let outcome = Guarded(Outcome(), by: Mutex())
    try await aside {
      let changes = Guarded(try Probe.run("changes", folder.path), by: Mutex())
      together(2) { _ in
        while let change = changes.withLock({ $0.popLast() }) {
          let words = change.split(separator: " ").map(String.init)
          let path = folder.path + "/" + words[0]
          mkdir(path, 0o700)
          let said = (try? Probe.run(how, path, words[0], "\(step(words.count > 1))")) ?? []
          outcome.withLock { $0.add(said, of: change) }
        }
      }
    }
    let (count, problems) = outcome.withLock { ($0.count, $0.problems) }
    #expect(problems.isEmpty, "\(problems.count): \(problems.prefix(5))")
    return count
  }
}

extension InterruptionTests.Outcome {
  /// Adds a probe's output: problems, and in its last line a summary. Without that line the probe did not
  /// finish.
  fileprivate mutating func add(_ said: [String], of change: String) {
    let last = said.last?.split(separator: " ").map(String.init) ?? []
    guard last.last == "problems", last.count > 1, let count = Int(last[1]), count > 0 else {
      problems.append("\(change) ended with \(said.suffix(3))")
      return
    }
    self.count += count
    problems += said.dropLast()
  }
}
