// A process that is killed before or after any one of its file operations, and what the next process finds
// (reliability.md, Proof). Each point has a process of its own, which SIGKILL ends, and a second one that looks.

import CPosix
import EnrollCore
import EnrollHost
import EnrollTesting

/// All points of one change.
struct KillPoints {
  private let rehearsal: Rehearsal
  private var change: StoreChange { rehearsal.change }

  /// - Parameter path: of a folder for everything that is needed.
  init(of change: StoreChange, in path: String) throws(EnrollError) {
    rehearsal = try Rehearsal(of: change, in: path)
  }

  private enum Moment: String, CaseIterable { case before, after }

  /// Says what went wrong, line by line, and at last how many processes were killed.
  /// - Parameter every: only each so-manieth operation.
  func run(every: Int) {
    var killed = 0
    var problems = 0
    for at in stride(from: 1, through: rehearsal.operations, by: every) {
      for moment in Moment.allCases {
        let site = rehearsal.stage()
        let victim = inChild { say in die(at, moment, site, say) }
        // What failed by itself is over before anything could be killed after it.
        if victim.signal == SIGKILL { killed += 1 }
        let acknowledged = victim.said.utf8.count { $0 == UInt8(ascii: ".") }
        let allowed = rehearsal.states(acknowledged: acknowledged, isInterrupted: victim.signal == SIGKILL)
        let witness = inChild { say in
          for problem in rehearsal.problems(at: site, allowed: allowed) { say(problem) }
        }
        var told = [victim.said.filter { $0 != "." }, witness.said].filter { !$0.isEmpty }
        if witness.signal != 0 { told.append("signal \(witness.signal)") }
        problems += told.isEmpty ? 0 : 1
        for text in told { say("\(change.name), \(moment) operation \(at): \(text)") }
      }
    }
    say("killed \(killed) of \(rehearsal.operations) operations, \(problems) problems")
  }

  /// The change, which is killed at its `at`-th operation; a dot for each step that was acknowledged.
  private func die(_ at: Int, _ moment: Moment, _ site: StoreSite, _ say: (String) -> Void) {
    let count = Counter()
    let system = FaultyFileSystem(
      change.disk(),
      before: { _ in
        if count.next() == at, moment == .before { kill(getpid(), SIGKILL) }
        return nil
      },
      after: { _ in if count.value == at, moment == .after { kill(getpid(), SIGKILL) } })
    do throws(EnrollError) {
      try change.make(try site.open(system), site) { say(".") }
    } catch {
      say("failed: \(error)")
    }
  }
}

/// Runs `body` in a forked child; what it says comes back.
func inChild(_ body: ((String) -> Void) -> Void) -> (said: String, signal: Int32) {
  var ends: [Int32] = [-1, -1]
  pipe(&ends)
  let child = fork()
  if child == 0 {
    body { text in
      let bytes = Array(text.utf8)
      _ = write(ends[1], bytes, bytes.count)
    }
    _exit(0)
  }
  close(ends[1])
  var said: [UInt8] = []
  var bytes = [UInt8](repeating: 0, count: 4096)
  while case let count = read(ends[0], &bytes, bytes.count), count > 0 { said += bytes[..<count] }
  close(ends[0])
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return (String(decoding: said, as: UTF8.self), status & 0x7F)
}
