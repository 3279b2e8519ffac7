// Tests of the parameter `id_token_hint` of a logout (OpenID Connect RP-Initiated Logout §2).

import EnrollHost
import EnrollTesting
import Expectations
import Testing

@testable import EnrollRules
@testable import EnrollSteps

@Suite("The hint of a logout")
struct LogoutHintTests {
  @Test("an id_token is a hint as long as its key is among the provider's; else client_id names the client")
  func hint() throws {
    for isThere in [true, false] {
      let bench = try Bench()
      bench.provider.change { $0.documentHeaders = [HTTPHeader("Cache-Control", "no-cache")] }
      let engine = try bench.signedIn()
      if !isThere {
        try bench.provider.changeKey()
        bench.provider.change { $0.keyID = "key-2" }
        bench.clock.advance(seconds: 90_000)
      }
      let url = try #require(try engine.logout.beginLogout(localOnly: false, cancellation: nil).url)
      #expect(url.contains("id_token_hint=") == isThere && url.contains("client_id=native"))
    }
  }

  @Test("where the keys cannot be fetched now, the hint stays")
  func unreachable() throws {
    let bench = try Bench()
    bench.provider.change { $0.documentHeaders = [HTTPHeader("Cache-Control", "no-cache")] }
    let engine = try bench.signedIn()
    try bench.provider.changeKey()
    bench.clock.advance(seconds: 90_000)
    bench.provider.next(.keys, .unreachable)
    let url = try #require(try engine.logout.beginLogout(localOnly: false, cancellation: nil).url)
    #expect(url.contains("id_token_hint="))
  }
}
