// A folder that cannot be listed to its end: names that the disk does not return must not count as missing.

@testable import EnrollStore
import CPosix
import EnrollRules
import EnrollHost
import EnrollTesting
import SystemCalls

/// Tests what the store does if a listing of its folder ends with an error, after each possible number of names.
struct HiddenNames {
  let path: String

  /// Prints every problem on a line, and at the end the number of listings that were ended early.
  func run() throws(EnrollError) {
    let (ended, problems) = try rekeying()
    let (others, more) = try makingKeys()
    let (lists, shorter) = try listing()
    say("ended \(ended + others + lists) looks, \(problems + more + shorter) problems")
  }

  /// Seals every file with a new key. A file that the listing missed would still need the old key.
  private func rekeying() throws(EnrollError) -> (ended: Int, problems: Int) {
    let rehearsal = try Rehearsal(of: try StoreChange.named("new-data-key"), in: path)
    var problems = 0
    var at = 0
    while true {
      at += 1
      let site = rehearsal.stage()
      var acknowledged = 0
      var failure: EnrollError?
      let isEnded = try ending(at) { () throws(EnrollError) in
        do throws(EnrollError) {
          try rehearsal.change.make(try site.open(), site) { acknowledged += 1 }
        } catch {
          failure = error
        }
      }
      guard isEnded else { return (at - 1, problems) }
      let allowed = rehearsal.states(acknowledged: acknowledged, isInterrupted: failure != nil)
      for problem in rehearsal.problems(at: site, allowed: allowed) {
        say("a new key, look ended at name \(at): \(problem)")
        problems += 1
      }
    }
  }

  /// Opens a store whose keys are missing. The store must not make new keys in their place.
  private func makingKeys() throws(EnrollError) -> (ended: Int, problems: Int) {
    let beginning = try StoreChange.named("overwrite").begin(in: path + "/keyless")
    unlink(beginning.store + "/keys")
    var problems = 0
    var at = 0
    while true {
      at += 1
      let site = beginning.copied(to: path + "/stage")
      let isEnded = try ending(at) { () throws(EnrollError) in
        do throws(EnrollError) {
          _ = try site.open()
        } catch {
          guard error.code != .storeIO, error.code != .storeLocked else { return }
          say("keys that are gone, look ended at name \(at): \(error)")
          problems += 1
        }
      }
      guard isEnded else { return (at - 1, problems) }
      guard site.has("keys") else { continue }
      say("keys that are gone, look ended at name \(at): new ones were made")
      problems += 1
    }
  }

  /// Lists the accounts. If the listing of the folder ends early, the call must fail, because an incomplete
  /// list would look complete.
  private func listing() throws(EnrollError) -> (ended: Int, problems: Int) {
    let store = try StoreChange.named("overwrite").begin(in: path + "/listed").open()
    let all = try store.accounts()
    var problems = 0
    var at = 0
    while true {
      at += 1
      var found: [AccountName]?
      let isEnded = try ending(at) { () throws(EnrollError) in
        do throws(EnrollError) {
          found = try store.accounts()
        } catch {
          guard error.code != .storeIO else { return }
          say("a list of accounts, look ended at name \(at): \(error)")
          problems += 1
        }
      }
      guard isEnded else { return (at - 1, problems) }
      // Listings for other purposes, such as cleaning up, may end early.
      guard let found, found != all else { continue }
      say("a list of accounts, look ended at name \(at): \(found.count) of \(all.count) were told")
      problems += 1
    }
  }

  /// Runs `body` on a disk that fails instead of returning the `at`-th name.
  /// - Returns: whether `body` asked for that many names.
  private func ending(_ at: Int, _ body: () throws(EnrollError) -> Void) throws(EnrollError) -> Bool {
    try HiddenNames.readdir.withUnsafePointer { (name) throws(EnrollError) in
      system_calls_begin(system_call_plan(at: at, number: EIO, only: name))
      defer { system_calls_end() }
      try body()
      return system_calls_end() >= at
    }
  }

  private static let readdir = CName("readdir")
}

/// The name of a system call as a C string.
final class CName: @unchecked Sendable {
  // Unchecked: the text is never written.
  private let text: UnsafeMutablePointer<CChar>

  init(_ name: String) { text = strdup(name) }
  deinit { free(text) }

  func withUnsafePointer<Value>(
    _ body: (UnsafePointer<CChar>) throws(EnrollError) -> Value
  ) throws(EnrollError) -> Value {
    try body(text)
  }
}
