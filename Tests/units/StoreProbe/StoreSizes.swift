// Measures what a store costs, depending on its number of accounts: opening the store, saving and reading one account,
// and listing all accounts.

@testable import EnrollPosix
@testable import EnrollStore
import CPosix
import EnrollRules
import EnrollHost
import EnrollTesting

/// Measures times in a store that grows.
struct StoreSizes {
  let path: String

  /// Fills the store up to each number of accounts in turn, and prints the costs there: medians in
  /// microseconds.
  func run(_ counts: [Int]) throws(EnrollError) {
    let store = try FileTokenStore(path: path, clock: SystemClock())
    var made = 0
    for count in counts {
      while made < count {
        try store.update(try AccountName("account-\(made)")) { $0.confirmed = StoreChange.tokens("first") }
        made += 1
      }
      let some = try AccountName("account-\(count / 2)")
      let opening = try median(21) { () throws(EnrollError) in
        let fresh = try FileTokenStore(path: path, clock: SystemClock())
        _ = try fresh.read(some)
      }
      let saving = try median(21) { () throws(EnrollError) in
        try store.update(some) { $0.asksForLogin.toggle() }
      }
      let listing = try median(count > 10_000 ? 1 : 3) { () throws(EnrollError) in _ = try store.accounts() }
      say("\(count) accounts: open and read \(opening), save \(saving), list \(listing)")
    }
  }

  private func median(_ times: Int, _ body: () throws(EnrollError) -> Void) throws(EnrollError) -> Int64 {
    var taken: [Int64] = []
    for _ in 0..<times {
      let start = SystemClock.now()
      try body()
      taken.append(SystemClock.now().since(start) / 1000)
    }
    return taken.sorted()[times / 2]
  }
}
