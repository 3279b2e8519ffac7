// A change of the store as it goes when nothing interrupts it: what every interruption of it is held against.

@testable import EnrollStore
import EnrollCore
import EnrollHost

/// One change, its beginning, and the states that it leads through.
struct Rehearsal {
  let change: StoreChange
  let path: String
  /// How many system calls it takes, with the opening of the store.
  let calls: Int

  private let beginning: StoreSite
  private let states: [[String]]

  /// - Parameter path: of a folder for everything that is needed.
  init(of change: StoreChange, in path: String) throws(EnrollError) {
    self.change = change
    self.path = path
    beginning = try change.begin(in: path + "/beginning")
    states = try change.states(from: beginning, in: path + "/states")
    calls = try change.calls(from: beginning, in: path + "/count")
  }

  /// A copy of the beginning, in the same place each time.
  func stage() -> StoreSite { beginning.copied(to: path + "/stage") }

  /// The state after the steps that were acknowledged; after an interruption the next step may be there as well.
  func states(acknowledged: Int, isInterrupted: Bool) -> [[String]] {
    Array(states[acknowledged...].prefix(isInterrupted ? 2 : 1))
  }

  /// What a program finds afterwards, whether it can go on, and what is left behind.
  /// - Parameter store: with which it goes on; nil: with one that it opens.
  /// - Returns: what is wrong, in words.
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
