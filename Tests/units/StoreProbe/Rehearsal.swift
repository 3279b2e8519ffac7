// Runs a change of the store without an interruption. Every interrupted run is compared with this run.

@testable import EnrollStore
import EnrollRules
import EnrollHost

/// One change of the store, the store before the change, and the states of the store after each step of the change.
struct Rehearsal {
  let change: StoreChange
  let path: String
  /// The number of system calls that the change makes, including those that open the store.
  let calls: Int

  private let beginning: StoreSite
  private let states: [[String]]

  /// - Parameter path: a folder for all files of the test.
  init(of change: StoreChange, in path: String) throws(EnrollError) {
    self.change = change
    self.path = path
    beginning = try change.begin(in: path + "/beginning")
    states = try change.states(from: beginning, in: path + "/states")
    calls = try change.calls(from: beginning, in: path + "/count")
  }

  /// A copy of the store before the change, always in the same folder.
  func stage() -> StoreSite { beginning.copied(to: path + "/stage") }

  /// The states in which the store may be if this many steps were acknowledged. After an interruption, the state after
  /// the next step is allowed, too.
  func states(acknowledged: Int, isInterrupted: Bool) -> [[String]] {
    Array(states[acknowledged...].prefix(isInterrupted ? 2 : 1))
  }

  /// Checks the store after a run: what a program finds in it, whether the program can continue, and which files are
  /// left over.
  /// - Parameter store: the open store with which the program continues; nil if it has to open the store first.
  /// - Returns: the problems, in words.
  func problems(
    at site: StoreSite, allowed: [[String]], goingOnWith store: FileTokenStore? = nil
  ) -> [String] {
    var told: [String] = []
    do throws(EnrollError) {
      let found = try site.state()
      if !allowed.contains(found) { told.append("found \(found), not one of \(allowed)") }
      let next: FileTokenStore
      if let store { next = store } else { next = try site.open() }
      try site.goOn(with: next)
      try change.again(try site.open(), site)
      let leftovers = try site.leftBehind()
      if !leftovers.isEmpty { told.append("left behind: \(leftovers)") }
    } catch {
      told.append("afterwards: \(error)")
    }
    return told
  }
}
