// The table of captured data (flows.md §7), cell by cell. The rows are the six values. The columns are the events that
// clear or change these values.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

/// The six values, as the store holds them.
private struct Captured: Equatable {
  var profile: JSONObject?
  var idToken: Secret?
  var accessToken: Secret?
  var refreshToken: Secret?
  var expiresAt: UnixTime?
  var registrationType: String?

  static let nothing = Captured()
}

extension AccountRecord {
  fileprivate func captured(_ tokens: TokenSet?) -> Captured {
    Captured(
      profile: provisional == nil ? profile : provisionalProfile, idToken: tokens?.idToken,
      accessToken: tokens?.accessToken,
      refreshToken: tokens?.refreshToken, expiresAt: tokens?.expiry.expiresAt,
      registrationType: provisional == nil ? registrationType : provisionalRegistrationType)
  }
}

@Suite("The captured data, cell by cell (flows.md §7)")
struct CapturedDataTests {
  /// A signed-in user with all six values.
  private func whole(_ bench: Bench) throws -> (Engine, Captured) {
    let engine = try bench.signedIn()
    try bench.store.update(.default) { record in
      if record.provisional != nil {
        record.provisionalRegistrationType = "SOCIAL"
      } else {
        record.registrationType = "SOCIAL"
      }
    }
    let record = try bench.record
    let captured = record.captured(record.confirmed ?? record.provisional)
    #expect(
      captured.profile != nil && captured.idToken != nil && captured.refreshToken != nil
        && captured.expiresAt != nil && captured.registrationType != nil)
    return (engine, captured)
  }

  enum Ending: String, CaseIterable { case logout, deregister, retry, clear }

  @Test("logout, deregister, retry and clear leave none of the six", arguments: Ending.allCases)
  func cleared(by ending: Ending) throws {
    let bench = try Bench(requiresConfirmation: ending == .retry)
    let (engine, _) = try whole(bench)
    switch ending {
    case .logout: _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    case .deregister: _ = try engine.logout.deregister(cancellation: nil)
    case .retry: _ = try engine.registration.retry(cancellation: nil)
    case .clear: _ = try engine.logout.clear()
    }
    let record = try bench.record
    #expect(record.captured(record.confirmed) == .nothing && record.captured(record.provisional) == .nothing)
    #expect(record.provisionalRegistrationType == nil && record.provisionalProfile == nil)
    expect(engine.state, is: .unregistered)
    let read = try engine.registration.readAccount()
    #expect(read.profile == nil && read.idToken == nil && read.accessToken == nil && read.expiresAt == nil)
    expect(read.registrationType, is: nil)
    // Every call except the call that contacts no server must also revoke the refresh token at the server.
    expect(bench.provider.revoked.contains("refresh-2"), is: ending != .clear)
  }

  @Test("a retry beside a session leaves the session's six alone")
  func retryBesideSession() throws {
    let bench = try Bench(requiresConfirmation: true)
    let (engine, _) = try whole(bench)
    _ = try engine.registration.confirm()
    let before = try bench.record.captured(bench.record.confirmed)
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    _ = try engine.registration.retry(cancellation: nil)
    let after = try bench.record.captured(bench.record.confirmed)
    #expect(after.profile == before.profile && after.idToken == before.idToken)
    #expect(after.accessToken == before.accessToken && after.refreshToken == before.refreshToken)
    #expect(after.expiresAt == before.expiresAt && after.registrationType == before.registrationType)
  }

  @Test(
    "renewal: with and without id_token, with and without a rotated refresh token",
    arguments: [true, false], [true, false])
  func renewal(givesIDToken: Bool, rotates: Bool) throws {
    let bench = try Bench()
    bench.provider.change {
      $0.givesIDTokenOnRefresh = givesIDToken
      $0.rotates = rotates
    }
    let (engine, before) = try whole(bench)
    bench.provider.change { $0.claims = { $0["name"] = .string("Alice Renamed") } }
    bench.clock.advance(seconds: 3550)
    _ = try engine.access()
    let after = try bench.record.captured(bench.record.confirmed)
    // profile and id_token: updated, kept if the response has no such value.
    expect(after.profile?["name"], is: .string(givesIDToken ? "Alice Renamed" : "Alice Example"))
    expect((after.idToken == before.idToken), is: !givesIDToken)
    // access_token and expires_at: updated.
    expect(after.accessToken, is: Secret("access-3"))
    expect(after.expiresAt, is: before.expiresAt.map { $0 + 3550 })
    // refresh_token: replaced if it was rotated, else kept.
    expect(after.refreshToken, is: rotates ? Secret("refresh-3") : before.refreshToken)
    // registration_type: kept.
    expect(after.registrationType, is: before.registrationType)
  }

  @Test("account.read tells five of the six, and never the refresh token")
  func readable() throws {
    let bench = try Bench()
    let (engine, captured) = try whole(bench)
    let read = try engine.registration.readAccount()
    #expect(read.profile == captured.profile && read.idToken == captured.idToken)
    #expect(read.accessToken == captured.accessToken && read.expiresAt == captured.expiresAt)
    expect(read.registrationType, is: "SOCIAL")
    #expect(!"\(read)".contains("refresh-2"))
  }

  @Test("what waits for confirmation is a member of its own, and its tokens are not read out")
  func provisional() throws {
    let bench = try Bench(requiresConfirmation: true)
    let (engine, captured) = try whole(bench)
    let read = try engine.registration.readAccount()
    expect(read.waiting?.profile, is: captured.profile)
    expect(read.waiting?.registrationType, is: "SOCIAL")
    #expect(read.profile == nil && read.idToken == nil && read.accessToken == nil && read.expiresAt == nil)
    expect(read.registrationType, is: nil)
  }
}

@Suite("Deregistration (flows.md §5)")
struct DeregistrationTests {
  @Test("pending transactions are gone: a late redirect signs nobody in")
  func transactions() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let url = bench.provider.signIn(at: begun.url)
    let toOpen = try engine.logout.deregister(cancellation: nil).url
    expect(toOpen?.hasPrefix("https://id.example/logout?"), is: true)
    #expect(try bench.record.transactions.isEmpty)
    expect(code { _ = try engine.signIn.resume(url, cancellation: nil) }, is: .unsolicited)
    #expect(try engine.signIn.begin(SignInOptions(), cancellation: nil).url.contains("prompt=login"))
  }

  @Test("the installation id is another one afterwards; a logout keeps it")
  func installation() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let id = try bench.store.installationID()
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    try expect(bench.store.installationID(), is: id)
    _ = try engine.logout.deregister(cancellation: nil)
    let second = try bench.store.installationID()
    expect(second, isNot: id)
    try engine.logout.resetInstallationID()
    try expect(bench.store.installationID(), isNot: second)
  }

  @Test(
    "tokens that are on their way while the registration is cleared are revoked, not stored (R35)",
    arguments: [true, false])
  func exchangeMeanwhile(isDeregistration: Bool) throws {
    let bench = try Bench()
    let engine = bench.engine()
    let url = bench.provider.signIn(at: try engine.signIn.begin(SignInOptions(), cancellation: nil).url)
    bench.provider.next(
      .token,
      .during {
        if isDeregistration {
          _ = try? engine.logout.deregister(cancellation: nil)
        } else {
          _ = try? engine.logout.clear()
        }
      })
    try expect(engine.failure(of: url), is: .cancelled)
    #expect(try !bench.record.hasTokens)
    #expect(bench.provider.revoked.contains("refresh-2"))
    expect(engine.state, is: .unregistered)
  }

  @Test("a renewal that is on its way does not bring the session back (R35)")
  func renewalMeanwhile() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let other = bench.engine()
    bench.clock.advance(seconds: 3550)
    bench.provider.next(.revocation, .unreachable)
    bench.provider.next(.token, .during { _ = try? other.logout.deregister(cancellation: nil) })
    try expect(engine.access(), is: .reauthenticate(reason: "no user is signed in"))
    #expect(try !bench.record.hasTokens)
    #expect(bench.provider.revoked.contains("refresh-3"))
  }

  @Test("offline, everything is gone all the same, and the server is told by a later process")
  func offline() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.provider.next(.revocation, .unreachable)
    _ = try engine.logout.deregister(cancellation: nil)
    #expect(try !bench.record.hasTokens && bench.provider.revoked.isEmpty)
    bench.engine().outbox.sendOutbox(cancellation: nil)
    expect(Set(bench.provider.revoked), is: ["refresh-2", "access-2"])
  }

  @Test("a refusal of the revocation is final, with the bearer too", arguments: [401, 403])
  func refusedForGood(status: Int) throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    let refusal = FakeProvider.Reply.status(status, headers: [HTTPHeader("Content-Length", "0")])
    bench.provider.next(.revocation, refusal, refusal, refusal, refusal)
    _ = try engine.logout.beginLogout(localOnly: false, cancellation: nil)
    expect(bench.provider.count(.revocation), is: 4)
    #expect(try bench.store.updateOutbox { _ in }.isEmpty)
  }
}
