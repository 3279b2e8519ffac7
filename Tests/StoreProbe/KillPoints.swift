// A process that is killed before or after any one of its system calls, and what the next process finds
// (reliability.md, How it is shown). Each point has a process of its own, which SIGKILL ends, and a second one that looks.

import CPosix
import EnrollCore
import EnrollHost
import EnrollTesting
import SystemCalls

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
  /// - Parameter every: only each so-manieth call.
  func run(every: Int) {
    var killed = 0
    var problems = 0
    for at in stride(from: 1, through: rehearsal.calls, by: every) {
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
        for text in told { say("\(change.name), \(moment) call \(at): \(text)") }
      }
    }
    say("killed \(killed) of \(rehearsal.calls) calls, \(problems) problems")
  }

  /// The change, which is killed at its `at`-th call; a dot for each step that was acknowledged.
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
  ///   - at: the call to which it happens, counted from 1; 0 only counts.
  ///   - number: the `errno` with which it fails.
  ///   - limit: bytes that a read or a write moves at most.
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

/// Runs `body` in a forked child; what it says comes back.
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
