// States, outcomes and findings in words, and their exit statuses.

import EnrollSteps
import EnrollCrypto
import EnrollJSON
import Testing

@testable import EnrollRules
@testable import EnrollStore
@testable import enroll

/// Sample values for the reports.
private enum Sample {
  static let transaction = TransactionID("t")
  static let error = EnrollError(.network, "it is down")

  static func profile(_ name: String) -> JSONObject { JSONObject([("name", .string(name))]) }

  static func renewalFailed(
    _ remedy: RegistrationState.RenewalFailure.Remedy, isTokenUsable: Bool, _ error: EnrollError = error
  ) -> RegistrationState {
    .renewalFailed(.init(error: error, remedy: remedy, isTokenUsable: isTokenUsable))
  }

  static func kept(
    _ name: String? = "Al", expiresAt: Int64? = 1300, renews: Bool? = nil, until: Int64? = nil,
    waiting: String? = nil
  ) -> AccountSnapshot {
    AccountSnapshot(
      profile: name.map { profile($0) }, expiresAt: expiresAt.map { UnixTime(seconds: $0) }, renews: renews,
      renewableUntil: until.map { UnixTime(seconds: $0) },
      waiting: waiting.map { WaitingSignIn(transactionID: transaction, profile: profile($0)) })
  }

  static let token = AccessToken(value: Secret("a"), tokenType: "Bearer", expiresAt: UnixTime(seconds: 1300))

  static func store(
    owner: UInt32 = 7, permissions: UInt32 = 0o700, problem: EnrollError? = nil, files: [StoredFile] = []
  ) -> StoreDiagnosis {
    StoreDiagnosis(owner: owner, permissions: permissions, files: files, problem: problem)
  }
}

@Suite("What is told")
struct ReportTests {
  @Test(
    "a state becomes a headline and an exit status",
    arguments: [
      (.active(.valid), .done, "Signed in as Al"),
      (
        .awaitingConfirmation(transactionID: Sample.transaction, profile: Sample.profile("Bo")), .done,
        "Signed in as Al"
      ),
      (
        .authenticating(transactionID: Sample.transaction, step: .browser), .signInNeeded,
        "A sign-in is in progress"
      ),
      (.unregistered, .signInNeeded, "No user is signed in"), (.starting, .done, "Signed in as Al"),
      (Sample.renewalFailed(.registerAgain, isTokenUsable: true), .signInNeeded, "The session has ended"),
      (Sample.renewalFailed(.wait, isTokenUsable: false), .unreachable, "Signed in as Al"),
      (Sample.renewalFailed(.retry, isTokenUsable: true), .done, "Signed in as Al"),
      (
        Sample.renewalFailed(.retry, isTokenUsable: false, EnrollError(.storeFull, "no space")),
        .storeUnusable,
        "Signed in as Al"
      ),
      (
        Sample.renewalFailed(
          .wait, isTokenUsable: false, EnrollError(.oauth, "no", oauthError: "invalid_client")),
        .refused, "Signed in as Al"
      ),
      // If the provider sent no error code, an intermediary may have answered.
      (
        Sample.renewalFailed(.wait, isTokenUsable: false, EnrollError(.oauth, "no")), .unreachable,
        "Signed in as Al"
      ),
      (.registrationFailed(Sample.error), .signInNeeded, "The last sign-in failed"),
    ] as [(RegistrationState, CommandStatus, String)])
  func standing(state: RegistrationState, ending: CommandStatus, headline: String) {
    let standing = AccountStatus(state, kept: Sample.kept(), now: 1000)
    #expect(standing.ending == ending)
    #expect(standing.headline == headline)
    #expect((standing.advice == nil) == (ending == .done && standing.colour == .good))
  }

  @Test("a lock that another process holds is named where no token can be renewed")
  func obstacle() {
    let held = EnrollError(.busy, "another process holds the lock")
    let expired = AccountStatus(
      .starting, kept: Sample.kept(expiresAt: 900), obstacle: held, now: 1000)
    #expect(expired.ending == .busy && expired.token == "expired; another process holds the lock")
    let late = AccountStatus(.starting, kept: Sample.kept(expiresAt: 900), now: 1000)
    #expect(late.ending == .unreachable)
    #expect(late.token == "expired; the provider has not answered its renewal yet")
    #expect(AccountStatus(.starting, kept: Sample.kept(expiresAt: nil), now: 1000).ending == .signInNeeded)
  }

  @Test("a sign-in that waits is named beside the session, or alone")
  func waiting() {
    let state = RegistrationState.awaitingConfirmation(
      transactionID: Sample.transaction, profile: Sample.profile("Bo"))
    let beside = AccountStatus(state, kept: Sample.kept(waiting: "Bo"), now: 1000)
    #expect(beside.headline == "Signed in as Al" && beside.ending == .done)
    #expect(beside.token == "expires in 5 min; the sign-in of Bo waits for your confirmation")
    let alone = AccountStatus(state, kept: Sample.kept(nil, expiresAt: nil, waiting: "Bo"), now: 1000)
    #expect(alone.headline == "The sign-in of Bo is not confirmed" && alone.ending == .signInNeeded)
  }

  @Test("a question without a name says that the provider gives none")
  func namelessQuestion() {
    #expect(Shown.question(Sample.profile("Al")) == "Signed in as Al. Continue?")
    #expect(
      Shown.question(JSONObject([("sub", .string("7"))]))
        == "Signed in as user 7, whose name the provider does not give. Continue?")
    for profile in [JSONObject(), JSONObject([("locale", .string("nl"))])] {
      #expect(Shown.question(profile).contains("does not say who the user is"))
    }
  }

  @Test("how long a token lives is told from now")
  func life() {
    func token(_ kept: AccountSnapshot) -> String {
      AccountStatus(.active(.renewed), kept: kept, now: 1000).token
    }
    #expect(token(Sample.kept()).hasPrefix("renewed just now, expires in 5 min"))
    // The token that `standInToken` configures does not expire.
    #expect(token(Sample.kept(expiresAt: nil)).hasPrefix("renewed just now;"))
    #expect(
      token(Sample.kept(renews: true, until: 2800)).contains(
        "renewed on use when due; without use it ends at 1970-01-01T00:46:40Z, in 30 min"))
    // The library's clock follows the provider's, and the date of this machine may be ahead.
    let ahead = AccountStatus(.active(.valid), kept: Sample.kept(expiresAt: 900), now: 1000)
    #expect(ahead.token == "valid; renewed on use when due")
    let last = token(Sample.kept(renews: false))
    #expect(last.contains("gave no refresh token, so it is not renewed") && !last.contains("on use"))
  }

  @Test(
    "an outcome becomes an exit status, and a token only where there is one",
    arguments: [
      (.valid(Sample.token), .done), (.stale(Sample.token, reason: Sample.error), .done),
      (.expired(offlineSince: nil, retryAfterSeconds: nil, reason: Sample.error), .unreachable),
      (
        .expired(offlineSince: nil, retryAfterSeconds: nil, reason: EnrollError(.storeIO, "x")),
        .storeUnusable
      ),
      (.rejected(reason: Sample.error), .refused), (.reauthenticate(reason: "invalid_grant"), .signInNeeded),
      (.storeLocked, .storeLocked), (.busy, .busy),
    ] as [(AccessOutcome, CommandStatus)])
  func outcome(outcome: AccessOutcome, ending: CommandStatus) {
    let report = TokenReport(outcome, mustBeNew: false)
    #expect(report.ending == ending)
    #expect((report.token == "a") == (ending == .done) && report.isBearer)
  }

  @Test("a token that could not be renewed is none where a new one is wanted")
  func oldToken() throws {
    for (code, oauthError, ending) in [
      (.network, nil, .unreachable), (.busy, nil, .busy), (.oauth, "invalid_scope", .refused),
      // If the provider sent no error code, an intermediary may have answered.
      (.oauth, nil, .unreachable), (.unsupported, nil, .refused), (.storeFull, nil, .storeUnusable),
    ] as [(EnrollError.Code, String?, CommandStatus)] {
      let reason = EnrollError(code, "why", oauthError: oauthError)
      let outcome = AccessOutcome.stale(Sample.token, reason: reason)
      let report = TokenReport(outcome, mustBeNew: true)
      #expect(report.ending == ending && report.token == nil, "\(code)")
      #expect(TokenReport(outcome, mustBeNew: false).ending == .done)
      // The JSON output does not contain the token either.
      let printed = report.json(Failure(ending, "why"), Said())
      #expect(printed["accessToken"] == nil && printed["exitStatus"] == .integer(Int64(ending.rawValue)))
    }
    let dpop = AccessToken(value: Secret("a"), tokenType: "DPoP", expiresAt: UnixTime(seconds: 1300))
    #expect(!TokenReport(.valid(dpop), mustBeNew: false).isBearer)
  }

  @Test("a renewal that this machine did not send is not the provider's refusal")
  func unsent() {
    for (reason, ending) in [
      (EnrollError(.unsupported, "no libcurl", field: EnrollError.transportField), .usage),
      (EnrollError(.deadlineExceeded, "late").unsent(), .busy),
      (EnrollError(.deadlineExceeded, "late"), .unreachable),
    ] as [(EnrollError, CommandStatus)] {
      #expect(TokenReport(.stale(Sample.token, reason: reason), mustBeNew: true).ending == ending)
    }
  }

  @Test("a logout says who was signed out, and whether the provider knows")
  func logout() {
    var ended = EndedSession(account: "a", profile: Sample.profile("Al"), providerTold: .told)
    #expect(ended.lines == ["signed out Al"] && ended.warning == nil)
    ended.waiting = WaitingSignIn(transactionID: Sample.transaction, profile: Sample.profile("Bo"))
    ended.providerTold = .notPossible(reason: "it has no endpoint")
    #expect(
      ended.lines == ["signed out Al", "dropped the sign-in of Bo, which waited for confirmation"])
    #expect(
      ended.warning?.hasPrefix("The tokens could not be revoked at the provider: it has no endpoint. ")
        == true)
    ended.profile = nil
    #expect(ended.lines.count == 1 && ended.json["reason"] == .string("it has no endpoint"))
  }

  @Test("every error of the library comes to a failure, and every one that a user can mend to advice")
  func endings() {
    for code in EnrollError.Code.allCases {
      let failure = Failure(EnrollError(code, "x"))
      #expect(failure.ending != .done)
      #expect(failure.advice != nil || [.failed, .interrupted].contains(failure.ending), "\(code)")
    }
    #expect(Set(CommandStatus.allCases.map { $0.rawValue }).count == CommandStatus.allCases.count)
  }

  @Test("unusable metadata is a fault of the provider, not of the command line")
  func metadata() {
    for field in ["code_challenge_methods_supported", "authorization_servers"] {
      let error = EnrollError(.unsupported, "x", field: field)
      let failure = Failure(error)
      #expect(failure.ending == .refused)
      let advice = failure.advice?.text(Said()) ?? ""
      #expect(advice.contains("operator") || advice.contains("administrator"), "\(field)")
      #expect(!advice.contains("--help"))
      let outcome = AccessOutcome.expired(offlineSince: nil, retryAfterSeconds: nil, reason: error)
      #expect(TokenReport(outcome, mustBeNew: false).ending == .unreachable)
    }
    #expect(Failure(EnrollError(.unsupported, "x", field: "prompt")).ending == .usage)
    let device = Failure(EnrollError(.unsupported, "x", field: "kind")).advice?.text(Said())
    #expect(device?.contains("Run `enroll login` to sign in with a browser") == true)
  }

  @Test(
    "a store is well only if it is ours, for us alone, and can be used",
    arguments: [
      (nil, .warning), (Sample.store(), .good), (Sample.store(owner: 8), .bad),
      (Sample.store(permissions: 0o750), .bad),
      (Sample.store(permissions: 0o2700), .good), (Sample.store(permissions: 0o2750), .bad),
      (Sample.store(problem: EnrollError(.storeIO, "m")), .bad),
    ] as [(StoreDiagnosis?, Finding.Verdict)])
  func store(found: StoreDiagnosis?, verdict: Finding.Verdict) {
    #expect(Finding.store(found, at: "/s", user: 7).map { $0.verdict } == [verdict])
  }

  @Test("a damaged file is bad, one that was mended is worth knowing")
  func files() {
    let torn = EnrollError(.storeCorrupt, "torn")
    let found = Sample.store(files: [
      StoredFile(name: "a", kind: .account), StoredFile(name: "b", kind: .account, problem: torn),
      StoredFile(name: "c.corrupt-1", kind: .account, originalName: "c", problem: torn),
      StoredFile(name: "d.corrupt-1", kind: .account, originalName: "d"),
    ])
    let findings = Finding.store(found, at: "/s", user: 7)
    #expect(findings.map { $0.verdict } == [.good, .bad, .bad, .warning])
    #expect(findings.last?.advice?.text(Said()) == "Rename it to d while nothing uses the store.")
  }

  @Test(
    "a clock is well within a minute, and wrong beyond what id_tokens may be off (R25)",
    arguments: [(nil, .warning), (0, .good), (-60, .good), (61, .warning), (300, .warning), (-301, .bad)]
      as [(Int64?, Finding.Verdict)])
  func clock(ahead: Int64?, verdict: Finding.Verdict) {
    #expect(Finding.clock(ahead: ahead).verdict == verdict)
  }

  @Test("a keyring that is locked or away matters where the key is in it")
  func keyring() {
    #expect(Finding.keyring(.locked("r"), isUsed: true).verdict == .bad)
    #expect(Finding.keyring(.locked("r"), isUsed: false).verdict == .warning)
    #expect(Finding.keyring(.absent("r"), isUsed: true).verdict == .bad)
    #expect(Finding.keyring(.present, isUsed: true).verdict == .good)
    var found = Sample.store()
    #expect(Finding.keyring(in: found) == nil)
    found.keyCandidates = [KeyCandidate(name: "secret-service", presence: .locked("r"))]
    found.keyDecision = KeyDecision(provider: nil, reason: "r")
    found.keyProviders = ["secret-service"]
    #expect(Finding.keyring(in: found)?.verdict == .bad)
  }
}
