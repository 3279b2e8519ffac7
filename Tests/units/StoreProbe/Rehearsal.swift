// Runs a change of the store without an interruption. Every interrupted run is compared with it.

@testable import EnrollStore
import EnrollRules
import EnrollHost

/// One change, its beginning, and the states after its steps.
struct Rehearsal {
  let change: StoreChange
  let path: String
  /// The number of its system calls, including the opening of the store.
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

  /// The allowed states after the acknowledged steps; after an interruption, the state after the next step is
  /// allowed, too.
  func states(acknowledged: Int, isInterrupted: Bool) -> [[String]] {
    Array(states[acknowledged...].prefix(isInterrupted ? 2 : 1))
  }

  /// Checks what a program finds afterwards, whether it can continue, and which files are left over.
  /// - Parameter store: the store with which it continues; nil: it opens one.
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
