// The share of the threads that one provider may use.

import EnrollRules
import EnrollPosix
import Testing

@testable import EnrollGateway

@Suite("a provider's share of the threads")
struct ShareTests {
  private let threads = ProviderThreads(Mutex())

  /// Holds `count` threads of the share at once, and runs `then` meanwhile.
  private func hold(
    _ count: Int, of share: ProviderShare, _ then: () throws(EnrollError) -> Void = {}
  ) throws(EnrollError) {
    guard count > 0 else { return try then() }
    try share.taking { () throws(EnrollError) in try hold(count - 1, of: share, then) }
  }

  private func isRefused(_ count: Int, of share: ProviderShare) -> Bool {
    do throws(EnrollError) { try hold(count, of: share) } catch { return error.code == .busy }
    return false
  }

  @Test("a provider that is alone may hold three quarters of the threads, and not one more")
  func alone() throws {
    let share = ProviderShare(of: threads, Mutex())
    try hold(384, of: share)
    #expect(isRefused(385, of: share))
    // A call that has ended gives its thread back.
    try hold(384, of: share)
  }

  @Test("beside providers that hang, the next ones find threads, fewer each time")
  func besideOthers() throws {
    let shares = (0..<4).map { _ in ProviderShare(of: threads, Mutex()) }
    try hold(384, of: shares[0]) { () throws(EnrollError) in
      #expect(isRefused(97, of: shares[1]))
      try hold(96, of: shares[1]) { () throws(EnrollError) in
        #expect(isRefused(25, of: shares[2]))
        try hold(24, of: shares[2]) { () throws(EnrollError) in try hold(6, of: shares[3]) }
      }
    }
  }
}
