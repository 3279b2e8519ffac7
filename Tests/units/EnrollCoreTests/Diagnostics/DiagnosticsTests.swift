import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("Diagnostics (flows.md §11, R40)")
struct DiagnosticsTests {
  /// The marker in every place that can hold a secret or data about the user.
  static let canary = "CANARY"

  private func configuration() throws -> Configuration {
    let canary = Self.canary
    return try Configuration(
      issuer: "https://id.example", clientID: "native", redirectURI: "com.example.app:/callback?a=\(canary)"
    ) {
      $0.fallbackURI = "com.example.app://fallback/x?b=\(canary)"
      $0.appLinks = ["https://app.example/\(canary)/{activationToken}"]
      $0.authorizeParameters = [("apikey", canary)]
      $0.registration = .page("https://gate.example/\(canary)?c=\(canary)")
      $0.standInToken = Secret(canary)
      $0.registrationCheckURI = "https://check.example/\(canary)"
      $0.profileUpdateURI = "https://p.example/?d=\(canary)"
      $0.errorReportURI = "https://hooks.example/services/\(canary)"
      $0.choices = [RegistrationChoice(kind: canary, connection: canary, label: canary, guidance: canary)]
      $0.app2app = App2AppSettings(
        initURI: "https://a.example/\(canary)", completeURI: "https://a.example/\(canary)",
        allowedLinks: ["https://\(canary.lowercased()).example/"])
      $0.caFile = "/\(canary)"
    }
  }

  private func record() throws -> AccountRecord {
    let secret = Secret(Self.canary)
    let expiry = Expiry(lifetimeSeconds: 300, from: Fixture.moment())
    let tokens = TokenSet(
      accessToken: secret, tokenType: "DPoP", refreshToken: secret, idToken: secret,
      dpopKey: DPoPKey(der: secret), scopes: ["openid"], expiry: expiry,
      identity: IdentityFacts(issuer: "https://id.example", subject: Self.canary, audience: [Self.canary]))
    var record = AccountRecord()
    record.confirmed = tokens
    record.provisional = tokens
    record.profile = JSONObject([("email", .string(Self.canary))])
    record.provisionalProfile = record.profile
    let request = CodeRequest(
      redirect: AwaitedRedirect(uri: Self.canary, state: secret),
      secrets: .init(nonce: secret, codeVerifier: secret, dpopKey: DPoPKey(der: secret)),
      demands: IDTokenDemands(acrValues: [Self.canary]), prompt: Self.canary, expectedSubject: Self.canary)
    let recipient = Recipient(.email, address: Self.canary)
    let flows: [TransactionRecord.Flow] = [
      .signIn(.init(request, cause: LinkCause(.activation, for: TransactionID(Self.canary)))),
      .registration(
        .init(.request(request), isInBrowser: true, spentLinks: SpentLinks([Self.canary]))),
      .magicLink(.init(request, to: recipient)), .oneTimeCode(.init(to: recipient, tries: 1)),
      .app2app(.init(redirectURI: Self.canary, session: .init(secret))),
      .bff(
        .init(
          redirect: request.redirect, prompt: Self.canary,
          exchange: .init(provider: Self.canary, codeVerifier: secret))),
      .device(
        .init(code: secret, intervalSeconds: 5, notBefore: expiry, dpopKey: DPoPKey(der: secret))),
    ]
    for flow in flows {
      record.transactions.append(
        TransactionRecord(
          id: TransactionID(Self.canary), issuer: "https://id.example", scopes: ["openid"],
          began: Fixture.moment().wall, deadline: expiry, flow: flow))
    }
    record.renewalIntent = RenewalIntent(
      attempt: Self.canary, tokenEpoch: 1, refreshTokenHash: Self.canary, bootID: Self.canary,
      began: Fixture.moment().wall)
    record.logouts = [
      PendingLogout(state: secret, redirectURI: Self.canary, began: Fixture.moment().wall)
    ]
    return record
  }

  @Test("no secret, nobody's data and none of the host's own URLs are in it")
  func canaries() throws {
    let bench = try Bench()
    let account = try AccountName(Self.canary)
    let kept = try record()
    try bench.store.update(account) { record throws(EnrollError) in record = kept }
    try bench.store.updateOutbox { outbox throws(EnrollError) in
      outbox.append(
        OutboxEntry(
          issuer: "https://id.example", endpoint: "https://id.example/\(Self.canary)",
          message: .revocation(
            .init(
              clientID: ClientID(Self.canary), token: Secret(Self.canary), hint: "refresh_token",
              bearer: Secret(Self.canary), dpopKey: DPoPKey(der: Secret(Self.canary)))),
          queued: bench.clock.wallTime(), attempts: 2))
    }
    let engine = Engine(
      configuration: try configuration(), account: account,
      platform: Platform(type: "phone", appVersion: "1.2", deviceID: Self.canary), transport: bench.provider,
      store: bench.store, clock: bench.clock, random: SystemRandomSource(), observer: bench.seen,
      exclusion: { Mutex() })
    let text = String(decoding: JSON.object(engine.diagnostics.diagnostics()).serialized(), as: UTF8.self)
    #expect(!text.lowercased().contains(Self.canary.lowercased()))
    #expect(!text.contains(Base64URL.encode(Array(Self.canary.utf8))))
    // These facts are included: the names of parameters, the number of transactions, the queued messages for
    // the server.
    for expected in [
      #""authorizeParameters":["apikey"]"#, #""registration":"https://gate.example?c""#,
      #""errorReportUri":"https://hooks.example""#, #""redirectUri":"com.example.app:/callback?a""#,
      #""hasDeviceId":true"#, #""hasStandInToken":true"#, #""outbox":{"count":1,"#,
    ] { #expect(text.contains(expected), "\(expected)") }
  }

  @Test("what a session is like: its state, its tokens' ends, its provider, its last failures")
  func session() throws {
    let bench = try Bench()
    bench.provider.change { $0.clockOffsetSeconds = -7200 }
    let engine = try bench.signedIn()
    _ = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let told = JSON.object(engine.diagnostics.diagnostics())
    expect(told["state"]?["kind"], is: .string("authenticating"))
    expect(told["account"]?["confirmed"]?["secondsLeft"], is: .integer(3600))
    expect(told["account"]?["serverClockOffsetSeconds"], is: .integer(-7200))
    expect(told["clock"]?["aheadOfServerSeconds"], is: .integer(7200))
    expect(told["provider"]?["tokenEndpoint"], is: .string("https://id.example/token"))
    expect(told["account"]?["transactions"]?.array?.last?["status"], is: .string("pending"))

    bench.clock.advance(seconds: 3700)
    bench.provider.next(.token, .status(503), .status(503))
    _ = try engine.access()
    let errors = JSON.object(engine.diagnostics.diagnostics())["errors"]?.array ?? []
    expect(errors.last?["status"], is: .string("server"))
    expect(errors.last?["httpStatus"], is: .integer(503))
    expect(JSON.object(engine.diagnostics.diagnostics())["account"]?["backoff"]?["failures"], is: .integer(1))
  }

  @Test("the last sixteen failures are kept")
  func bounded() throws {
    let bench = try Bench()
    let engine = bench.engine()
    for _ in 0..<20 {
      let url = try engine.signIn.begin(SignInOptions(), cancellation: nil).url
      _ = try engine.failure(of: bench.provider.refuse(url, error: "access_denied"))
    }
    expect(engine.diagnostics.diagnostics()["errors"]?.array?.count, is: 16)
  }

  @Test("a store that cannot be read is told, and the rest is told all the same")
  func locked() throws {
    let bench = try Bench()
    let engine = Engine(
      configuration: bench.configuration, account: .default, platform: Platform(), transport: bench.provider,
      store: LockedStore(), clock: bench.clock, random: SystemRandomSource(), observer: bench.seen,
      exclusion: { Mutex() })
    let told = JSON.object(engine.diagnostics.diagnostics())
    expect(told["account"]?["problem"]?["status"], is: .string("storeLocked"))
    expect(told["outbox"]?["problem"]?["status"], is: .string("storeLocked"))
    expect(told["configuration"]?["clientId"], is: .string("native"))
  }
}

/// A store whose key is unavailable.
private final class LockedStore: TokenStore {
  private var locked: EnrollError { EnrollError(.storeLocked, "the key is not to be had") }

  func read(_ account: AccountName) throws(EnrollError) -> AccountRecord? { throw locked }
  func update(
    _ account: AccountName, _ change: (inout AccountRecord) throws(EnrollError) -> Void
  ) throws(EnrollError) -> AccountRecord { throw locked }
  func withRenewalLock(
    _ account: AccountName, epoch: UInt64, deadline: Instant, cancellation: (any Cancellation)?,
    _ body: () throws(EnrollError) -> Void
  ) throws(EnrollError) -> RenewalLockResult { throw locked }
  func reserveSpace(_ account: AccountName) throws(EnrollError) { throw locked }
  func accounts() throws(EnrollError) -> [AccountName] { throw locked }
  func remove(_ account: AccountName) throws(EnrollError) { throw locked }
  func installationID() throws(EnrollError) -> String { throw locked }
  func resetInstallationID() throws(EnrollError) { throw locked }
  func updateOutbox(
    _ change: (inout [OutboxEntry]) throws(EnrollError) -> Void
  ) throws(EnrollError) -> [OutboxEntry] { throw locked }
  var pins: (any PINStore)? { nil }
}
