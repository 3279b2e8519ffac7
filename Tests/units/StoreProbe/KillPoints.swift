// A process is killed before or after each of its system calls, and the next process checks the store
// (reliability.md, How it is shown). For each point, SIGKILL ends one process, and a second process checks
// the store.

import CPosix
import EnrollRules
import EnrollHost
import EnrollTesting
import SystemCalls

/// The points of one change at which a test kills the process: before and after each system call.
struct KillPoints {
  private let rehearsal: Rehearsal
  private var change: StoreChange { rehearsal.change }

  /// - Parameter path: a folder for all files of the test.
  init(of change: StoreChange, in path: String) throws(EnrollError) {
    rehearsal = try Rehearsal(of: change, in: path)
  }

  private enum Moment: String, CaseIterable { case before, after }

  /// Prints every problem on a line, and at the end the number of killed processes.
  /// - Parameter every: tests only each `every`-th call.
  func run(every: Int) {
    var killed = 0
    var problems = 0
    for at in stride(from: 1, through: rehearsal.calls, by: every) {
      for moment in Moment.allCases {
        let site = rehearsal.stage()
        let victim = inChild { say in die(at, moment, site, say) }
        // If the change itself fails first, nothing is killed.
        if victim.signal == SIGKILL { killed += 1 }
        let acknowledged = victim.said.utf8.count { $0 == UInt8(ascii: ".") }
        let allowed = rehearsal.states(acknowledged: acknowledged, isInterrupted: victim.signal == SIGKILL)
        let witness = inChild { say in
          for problem in rehearsal.problems(at: site, allowed: allowed) { say(problem) }
        }
        var told = [victim.said.filter { $0 != "." }, witness.said].filter { !$0.isEmpty }
        if witness.signal != 0 { told.append("signal \(witness.signal)") }
        problems += told.isEmpty ? 0 : 1
        for text in told { say("\(change.name), \(moment) call \(at): \(text)") }
      }
    }
    say("killed \(killed) of \(rehearsal.calls) calls, \(problems) problems")
  }

  /// Runs the change until the `at`-th call kills this process. Prints a dot for each acknowledged step.
  private func die(_ at: Int, _ moment: Moment, _ site: StoreSite, _ say: (String) -> Void) {
    system_calls_begin(
      system_call_plan(at: at, kills_before: moment == .before, kills_after: moment == .after))
    do throws(EnrollError) {
      try change.make(try site.open(change.disk()), site) { say(".") }
    } catch {
      say("failed: \(error)")
    }
    system_calls_end()
  }
}

extension system_call_plan {
  /// - Parameters:
  ///   - at: the number of the call that the plan affects, counted from 1. With 0 the plan affects no call; calls are
  ///     only counted.
  ///   - number: the `errno` with which that call fails.
  ///   - limit: the maximum number of bytes that one read or write moves.
  init(
    at: Int, lasts: Bool = false, number: Int32 = 0, limit: Int? = nil, kills_before: Bool = false,
    kills_after: Bool = false, only: UnsafePointer<CChar>? = nil
  ) {
    self.init()
    self.at = at
    self.lasts = lasts ? 1 : 0
    self.number = number
    self.limit = limit ?? -1
    self.kills_before = kills_before ? 1 : 0
    self.kills_after = kills_after ? 1 : 0
    self.only = only
  }
}

/// Runs `body` in a forked child, and returns its output.
func inChild(_ body: ((String) -> Void) -> Void) -> (said: String, signal: Int32) {
  var ends: [Int32] = [-1, -1]
  pipe(&ends)
  let child = fork()
  if child == 0 {
    body { text in
      let bytes = Array(text.utf8)
      system_calls_say(ends[1], bytes, bytes.count)
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
