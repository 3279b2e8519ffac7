// Tests of userinfo and introspection through a client: requests are sent only with a live token, and once more after a
// refusal.

import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollTesting
import Expectations
import Testing

@Suite("Requests to the provider with the access token")
struct UserinfoTests {
  private let clock = FakeClock()
  private let provider: FakeProvider
  private let client: Client

  init() throws {
    provider = try FakeProvider(clock: clock)
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.scopes = ["openid", "offline_access"]
        $0.requiresConfirmation = false
      },
      store: .memory)
    options.transport = provider
    options.clock = clock
    options.isPlatformReady = true
    client = try Client(options)
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    _ = try client.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
    provider.forgetRequests()
  }

  private func userinfo() throws { _ = try client.userinfo(until: .distantFuture, cancellation: nil) }

  private func introspect() throws {
    _ = try client.introspect(.accessToken, until: .distantFuture, cancellation: nil)
  }

  private func failure(_ call: () throws -> Void) -> EnrollError? {
    do { try call() } catch { return error as? EnrollError }
    return nil
  }

  @Test(
    "a session that is over, or whose token expired in an outage, fails as the token does, and nothing is sent"
  )
  func nothingSent() throws {
    clock.advance(seconds: 4000)
    provider.next(.token, .unreachable, .unreachable)
    for call in [userinfo, introspect] { expect(failure(call)?.code, is: .expired) }
    provider.recover(.token)
    provider.endSessions()
    clock.advance(seconds: 60)
    for call in [userinfo, introspect] { expect(failure(call)?.code, is: .reauthenticate) }
    #expect(provider.count(.userinfo) == 0 && provider.count(.introspection) == 0)
  }

  @Test("a 401 from userinfo renews the token, and asks once more")
  func renewed() throws {
    provider.next(.userinfo, .status(401))
    try userinfo()
    #expect(provider.count(.token) == 1 && provider.count(.userinfo) == 2)
  }

  @Test("userinfo that refuses every token says so, renews once a minute, and ends no session")
  func refused() throws {
    for time in 1...3 {
      provider.next(.userinfo, .status(401), .status(401))
      let error = failure(userinfo)
      #expect(error?.code == .rejected)
      // The first error contains the provider's own text about the renewed token.
      if time == 1 { #expect(error?.message.contains("expected userinfo, got status 401") ?? false) }
      provider.recover(.userinfo)
    }
    expect(provider.count(.token), is: 1)
    _ = try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil).token()
    try userinfo()
  }

  @Test("without a refresh token a 401 from userinfo is the session's end, until a sign-in")
  func noRefreshToken() throws {
    provider.change { $0.givesRefreshToken = false }
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    _ = try client.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
    _ = try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil).token()
    provider.next(.userinfo, .status(401))
    expect(failure(userinfo)?.code, is: .reauthenticate)
    let outcome = try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil)
    expect(outcome.kind, is: .reauthenticate)
    expect(client.lastKnownState.kind, is: .renewalFailed)
  }
}
