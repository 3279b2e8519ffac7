// One provider's share of the threads.

import EnrollCore
import EnrollPosix
import Testing

@testable import EnrollGateway

@Suite("a provider's share of the threads")
struct ShareTests {
  @Test("beyond its share a provider's requests are refused at once, and taken again when one ends")
  func limit() throws {
    let share = ProviderShare(Mutex())
    func nested(_ depth: Int) throws(EnrollError) -> Int {
      try share.taking { () throws(EnrollError) in depth == 1 ? 1 : 1 + (try nested(depth - 1)) }
    }
    #expect(try nested(ProviderShare.limit) == ProviderShare.limit)
    #expect { try nested(ProviderShare.limit + 1) } throws: { ($0 as? EnrollError)?.code == .busy }
    #expect(try nested(ProviderShare.limit) == ProviderShare.limit)
  }
}
