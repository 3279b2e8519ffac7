import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import Testing

@testable import EnrollHost

@Suite("A client sends what waited for the browser's return from the logout page (flows.md §5)")
struct LogoutWaitTests {
  private struct Stage {
    let clock = FakeClock()
    let provider: FakeProvider
    let store: MemoryTokenStore

    init() throws {
      provider = try FakeProvider(clock: clock)
      store = MemoryTokenStore(clock: clock)
    }

    func client() throws -> Client {
      var options = ClientOptions(
        configuration: try Configuration(
          issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
        ) {
          $0.postLogoutRedirectURI = "com.example.app:/logout"
          $0.requiresConfirmation = false
        },
        store: .custom(store))
      options.transport = provider
      options.clock = clock
      return try Client(options)
    }

    func signedIn() throws -> Client {
      let client = try client()
      let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
      guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
      _ = try client.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
      return client
    }

    /// Begins a logout; returns the redirect URL with which the browser will come back.
    func leave(_ client: Client) throws -> String {
      let out = try client.beginLogout(localOnly: false, until: .distantFuture, cancellation: nil)
      expect(out.providerTold, is: .queued)
      let state = try #require(out.url?.split(separator: "&").first { $0.hasPrefix("state=") })
      return "com.example.app:/logout?\(state)"
    }

    func becomesRevoked() -> Bool { eventually { provider.revoked.count == 2 } }

    func eventually(_ condition: () -> Bool) -> Bool {
      for _ in 0..<3000 where !condition() { Thread.sleep(forTimeInterval: 0.01) }
      return condition()
    }
  }

  @Test("as soon as the host hands the return over", arguments: [true, false])
  func comesBack(byTheDoor: Bool) throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    let back = try stage.leave(client)
    expect(stage.provider.count(.revocation), is: 0)
    if byTheDoor {
      try expect(client.handle(back, until: .distantFuture, cancellation: nil), is: .logoutFinished)
    } else {
      try client.finishLogout(back)
    }
    #expect(stage.becomesRevoked())
  }

  @Test("when the wait is over, though nothing else happens")
  func staysAway() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    _ = try stage.leave(client)
    stage.clock.advance(seconds: 200)
    #expect(stage.becomesRevoked())
    client.close()
  }

  @Test("a client that comes later does the same for what another one has left")
  func another() throws {
    let stage = try Stage()
    let client = try stage.signedIn()
    _ = try stage.leave(client)
    client.close()
    client.drain()
    let next = try stage.client()
    _ = try next.registrationState(wait: false, until: .distantFuture, cancellation: nil)
    #expect(stage.eventually { next.engine.outbox.logoutWaitEnds != nil })
    expect(stage.provider.count(.revocation), is: 0)
    stage.clock.advance(seconds: 200)
    #expect(stage.becomesRevoked())
  }
}
