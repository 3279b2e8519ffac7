// A record in which every field differs from its default.

import EnrollCrypto
import EnrollJSON

@testable import EnrollRules

enum Sample {
  static let expiry = Expiry(
    expiresAt: UnixTime(seconds: 1_700_000_300), deadline: Instant(nanoseconds: 987_654_321),
    bootID: "boot-7",
    lifetimeSeconds: 300)

  static let tokens: TokenSet = {
    var tokens = session
    tokens.refreshExpiry = expiry
    tokens.audiences.put(
      AudienceEntry(
        TokenAudience(resource: "https://api.example/", scopes: ["a", "b"]),
        token: AudienceToken(
          accessToken: Secret("for-the-api"), tokenType: "DPoP", scopes: ["a"], expiry: expiry, epoch: .max),
        refusal: RenewalRefusal(pause: expiry, httpStatus: 400, oauthError: "invalid_target")))
    return tokens
  }()

  private static let session = {
    var tokens = sessionAtFirst
    (tokens.missingScopes, tokens.isSuperseded) = (["email"], true)
    return tokens
  }()

  private static let sessionAtFirst = TokenSet(
    accessToken: Secret("access"), tokenType: "DPoP", refreshToken: Secret([0, 255, 10]),
    idToken: Secret("a.b.c"), dpopKey: DPoPKey(der: Secret([48, 0, 255])), scopes: ["openid", "profile"],
    expiry: expiry,
    identity: IdentityFacts(
      issuer: "https://op.example", subject: "s\u{e9}\u{10FFFF}", audience: ["us", "them"],
      authorizedParty: "us",
      authTime: UnixTime(seconds: -5)),
    unprovenIDToken: Secret("d.e.f"))

  static let transaction = TransactionRecord(
    id: "id", status: .exchanging, issuer: "https://op.example", scopes: ["openid"],
    began: UnixTime(seconds: 1_700_000_000), deadline: expiry, isSuperseded: true,
    flow: .magicLink(.init(codeRequest, to: Recipient(.email, address: "alice@example.org"))))

  static let codeRequest = CodeRequest(
    redirect: AwaitedRedirect(uri: "com.example.app:/cb", state: Secret("state"), listensOnLoopback: true),
    secrets: .init(
      nonce: Secret("nonce"), codeVerifier: Secret("verifier"), dpopKey: DPoPKey(der: Secret([1]))),
    demands: IDTokenDemands(maxAgeSeconds: 60, acrValues: ["gold"]), prompt: "login",
    expectedSubject: "alice", isSocial: true)

  static let redirect = codeRequest.redirect
  static let recipient = Recipient(.sms, address: "+31612345678")

  /// One flow of each kind, with all of its members.
  static let flows: [TransactionRecord.Flow] = [
    .signIn(.init(codeRequest, cause: LinkCause(.fallback, for: "t-0"), hasFallenBack: true)),
    .registration(
      .init(
        .request(codeRequest), isInBrowser: true, spentLinks: SpentLinks(["hash"]), hasFallenBack: true)),
    .registration(.init(.page(codeRequest.demands), isInBrowser: false)),
    .magicLink(.init(codeRequest, to: recipient)), .oneTimeCode(.init(to: recipient, tries: 3)),
    .app2app(.init(redirectURI: redirect.uri, session: .init(Secret("session"), tries: 3))),
    .bff(
      .init(
        redirect: redirect, prompt: "login",
        exchange: .init(provider: "google", codeVerifier: Secret("verifier")))),
    .device(
      .init(
        code: Secret("d"), intervalSeconds: 5, notBefore: expiry, dpopKey: DPoPKey(der: Secret([1])),
        codeVerifier: Secret("v"), serverErrors: 2, lastAnswer: "slow_down")),
  ]

  static var outboxEntry: OutboxEntry {
    var entry = outboxEntryAtFirst
    (entry.pause, entry.isPauseAsked, entry.awaitedLogout) = (expiry, true, "default")
    return entry
  }

  private static let outboxEntryAtFirst = OutboxEntry(
    issuer: "https://op.example",
    sender: OutboxEntry.Sender(
      clientID: "client",
      trust: TrustSettings(caFile: "/ca.pem", allowsLoopbackHTTP: true, hasOwnTransport: true)),
    endpoint: "https://op.example/revoke",
    message: .revocation(
      .init(
        clientID: "client", token: Secret("refresh"), hint: "refresh_token", bearer: Secret("access"),
        dpopKey: DPoPKey(der: Secret([2])))),
    queued: UnixTime(seconds: 1_700_000_000), attempts: 3)

  static var record: AccountRecord {
    var record = AccountRecord()
    record.tokenEpoch = .max - 1
    record.accessEpoch = .max - 2
    record.confirmed = tokens
    record.provisional = tokens
    record.profile = JSONObject([
      ("sub", .string("s")),
      ("nested", .object([("a", .array([.null, .bool(true), .integer(.min), .number(0.5)]))])),
    ])
    record.provisionalProfile = JSONObject([("sub", .string("t"))])
    record.registrationType = "SOCIAL"
    record.provisionalRegistrationType = "PASSWORDLESS"
    record.provisionalTransactionID = "t-1"
    record.pinTransactionID = "t-1"
    record.transactions = [transaction]
    record.renewalIntent = RenewalIntent(
      attempt: "attempt", tokenEpoch: 7, refreshTokenHash: "hash", bootID: "boot-7",
      began: UnixTime(seconds: 1))
    record.refusal = RenewalRefusal(
      pause: expiry, httpStatus: 418, oauthError: "odd", oauthErrorDescription: "very odd",
      began: UnixTime(seconds: 2))
    record.backoff = RenewalBackoff(
      failures: 3, pause: expiry, followUp: expiry, offlineSince: UnixTime(seconds: 4),
      error: EnrollError(
        .server, "tokens were expected", httpStatus: 429, oauthError: "slow_down",
        oauthErrorDescription: "too many", retryAfterSeconds: 7))
    record.sessionEnded = "invalid_grant"
    record.sessionEndedDescription = "Session not active"
    (record.isAccessRefused, record.narrowsSessions, record.refusesOfflineAccess) = (true, true, true)
    record.secretMethod = .post
    (record.offlineConsent, record.keepsAccessTokens) = (.needed, false)
    record.serverClock = ServerClock(offsetSeconds: -3600, doubtedOffsetSeconds: 7200)
    record.nonces = DPoPNonces([
      DPoPNonces.Entry(origin: "https://id.example", nonce: "n-1", learned: UnixTime(seconds: 5))
    ])
    record.sentRefreshTokens = SentRefreshTokens(["hash-1", "hash-2"])
    record.asksForLogin = true
    record.logouts = [
      PendingLogout(state: Secret("state"), redirectURI: "com.example.app:/out", began: UnixTime(seconds: 3))
    ]
    return record
  }

  static let account: AccountName = .default
  static var document: AccountDocument {
    AccountDocument(account: account, lineage: "lineage", record: record)
  }
}

extension AccountDocument {
  /// The record of a document without a PIN.
  var record: AccountRecord {
    get {
      guard case .open(let record) = content else { return AccountRecord() }
      return record
    }
    set { content = .open(newValue) }
  }
}
