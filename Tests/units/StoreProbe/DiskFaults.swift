// A disk that fails at any system call, once or from then on, in each of the ways in which disks fail
// (reliability.md, How it is shown): the store reports the right error, keeps the old state or the new one,
// leaves no descriptor open, and works again afterwards.

@testable import EnrollStore
import CPosix
import EnrollRules
import EnrollHost
import EnrollTesting
import SystemCalls

/// Tests one change with every fault of the disk.
struct DiskFaults {
  private let rehearsal: Rehearsal
  private var change: StoreChange { rehearsal.change }

  /// - Parameter path: a folder for all files of the test.
  init(of change: StoreChange, in path: String) throws(EnrollError) {
    rehearsal = try Rehearsal(of: change, in: path)
  }

  /// How a call fails.
  struct Fault {
    var name: String
    var plan: system_call_plan
    /// The error for the caller; nil if the fault is harmless, and everything must succeed.
    var code: EnrollError.Code?
    /// The error code if the fault happens only once.
    var codeOnce: EnrollError.Code?

    static var all: [Fault] {
      [
        error("EIO", EIO, .storeIO), error("ENOSPC", ENOSPC, .storeFull), error("EDQUOT", EDQUOT, .storeFull),
        error("EROFS", EROFS, .storeRefused), error("EACCES", EACCES, .storeRefused),
        error("EMFILE", EMFILE, .storeIO), error("ENFILE", ENFILE, .storeIO),
        error("ENOMEM", ENOMEM, .storeIO),
        Fault(name: "EINTR", plan: system_call_plan(at: 0, number: EINTR), code: .storeIO, codeOnce: nil),
        Fault(name: "one byte", plan: system_call_plan(at: 0, limit: 1), code: nil, codeOnce: nil),
        Fault(name: "no byte", plan: system_call_plan(at: 0, limit: 0), code: .storeIO, codeOnce: .storeIO),
      ]
    }

    private static func error(_ name: String, _ number: Int32, _ code: EnrollError.Code) -> Fault {
      Fault(name: name, plan: system_call_plan(at: 0, number: number), code: code, codeOnce: code)
    }
  }

  /// Prints every problem on a line, and at the end the number of faults.
  /// - Parameter every: tests only each `every`-th combination of call and fault.
  func run(every: Int) {
    var count = 0
    var problems = 0
    let ways = Fault.all.flatMap { [($0, false), ($0, true)] }
    for index in stride(from: 0, to: rehearsal.calls * ways.count, by: every) {
      // Neighbouring calls fail in different ways, so that a small sample has faults of all kinds.
      let (fault, isLasting) = ways[index % ways.count]
      let at = index / ways.count + 1
      let before = Self.descriptors()
      var told = meet(fault, at: at, isLasting)
      let left = Self.descriptors() - before
      if left != 0 { told.append("\(left) descriptors are left") }
      for text in told {
        say("\(change.name), \(fault.name) \(isLasting ? "from" : "at") call \(at): \(text)")
      }
      count += 1
      problems += told.isEmpty ? 0 : 1
    }
    say("failed \(count) calls, \(problems) problems")
  }

  /// - Returns: the problems.
  private func meet(_ fault: Fault, at: Int, _ isLasting: Bool) -> [String] {
    let site = rehearsal.stage()
    var plan = fault.plan
    plan.at = at
    plan.lasts = isLasting ? 1 : 0
    var acknowledged = 0
    var failure: EnrollError?
    var store: FileTokenStore?
    system_calls_begin(plan)
    do throws(EnrollError) {
      let opened = try site.open(change.disk())
      store = opened
      try change.make(opened, site) { acknowledged += 1 }
    } catch {
      failure = error
    }
    system_calls_end()

    var told: [String] = []
    let isFull = change.isDiskFull && failure?.code == .storeFull
    if let failure, !isFull, failure.code != (isLasting ? fault.code : fault.codeOnce) {
      told.append("\(failure)")
    }
    told += rehearsal.problems(
      at: site, allowed: rehearsal.states(acknowledged: acknowledged, isInterrupted: failure != nil),
      goingOnWith: change.isDiskFull ? nil : store)
    return told
  }

  private static func descriptors() -> Int {
    let system = PosixFileSystem()
    guard let folder = try? system.openFolder("/proc/self/fd") else { return -1 }
    defer { system.close(folder) }
    return (try? system.list(folder))?.count ?? -1
  }
}
