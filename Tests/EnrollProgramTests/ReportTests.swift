// States, outcomes and findings in words, and the exit statuses that they come to.

import EnrollCore
import EnrollJSON
import Testing

@testable import enroll

private func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

@Suite("What is told")
struct ReportTests {
  @Test(
    "a state becomes a headline and an exit status",
    arguments: [
      (#"{"state": "active", "reason": "valid"}"#, .done, "Signed in as Al"),
      (#"{"state": "awaitingConfirmation", "profile": {"name": "Bo"}}"#, .done, "Signed in as Al"),
      (#"{"state": "authenticating"}"#, .signInNeeded, "A sign-in is in progress"),
      (#"{"state": "unregistered"}"#, .signInNeeded, "No user is signed in"),
      (#"{"state": "starting"}"#, .done, "Signed in as Al"),
      (
        #"{"state": "failed", "reason": "renewal", "remedy": "registerAgain", "tokenUsable": true}"#,
        .signInNeeded,
        "The session has ended"
      ),
      (
        #"{"state": "failed", "reason": "renewal", "remedy": "wait", "tokenUsable": false}"#, .unreachable,
        "Signed in as Al"
      ),
      (
        #"{"state": "failed", "reason": "renewal", "remedy": "wait", "tokenUsable": true}"#, .done,
        "Signed in as Al"
      ),
      (#"{"state": "failed", "reason": "registration"}"#, .signInNeeded, "The last sign-in failed"),
    ] as [(String, CommandStatus, String)])
  func standing(state: String, ending: CommandStatus, headline: String) throws {
    let standing = AccountStatus(
      try json(state), kept: try json(#"{"profile": {"name": "Al"}, "expiresAt": 1300}"#), now: 1000)
    #expect(standing.ending == ending)
    #expect(standing.headline == headline)
    #expect((standing.advice == nil) == (ending == .done && standing.colour == .good))
  }

  @Test("a sign-in that waits is named beside the session, or alone")
  func waiting() throws {
    let state = try json(#"{"state": "awaitingConfirmation", "profile": {"name": "Bo"}}"#)
    let beside = AccountStatus(
      state,
      kept: try json(
        #"{"profile": {"name": "Al"}, "expiresAt": 1300, "waiting": {"profile": {"name": "Bo"}}}"#),
      now: 1000)
    #expect(beside.headline == "Signed in as Al" && beside.ending == .done)
    #expect(beside.token == "expires in 5 min; the sign-in of Bo waits for your confirmation")
    let alone = AccountStatus(state, kept: try json(#"{"waiting": {"profile": {"name": "Bo"}}}"#), now: 1000)
    #expect(alone.headline == "The sign-in of Bo is not confirmed" && alone.ending == .signInNeeded)
  }

  @Test("a question without a name says that the provider gives none")
  func namelessQuestion() throws {
    #expect(Shown.question(try json(#"{"name": "Al"}"#)) == "Signed in as Al. Continue?")
    #expect(
      Shown.question(try json(#"{"sub": "7"}"#))
        == "Signed in as user 7, whose name the provider does not give. Continue?")
    for profile in ["{}", #"{"locale": "nl"}"#] {
      #expect(Shown.question(try json(profile)).contains("does not say who the user is"))
    }
  }

  @Test("how long a token lives is told from now")
  func life() throws {
    let active = try json(#"{"state": "active", "reason": "renewed"}"#)
    #expect(
      AccountStatus(active, kept: try json(#"{"expiresAt": 1300}"#), now: 1000).token.hasPrefix(
        "renewed just now, expires in 5 min"))
    // A stand-in token has no end.
    #expect(AccountStatus(active, kept: try json("{}"), now: 1000).token.hasPrefix("renewed just now;"))
    let renewable = try json(#"{"expiresAt": 1300, "renews": true, "renewableUntil": 2800}"#)
    #expect(
      AccountStatus(active, kept: renewable, now: 1000).token.contains(
        "renewed on use when due; without use it ends at 1970-01-01T00:46:40Z, in 30 min"))
    let last = try json(#"{"expiresAt": 1300, "renews": false}"#)
    let words = AccountStatus(active, kept: last, now: 1000).token
    #expect(words.contains("gave no refresh token, so it is not renewed") && !words.contains("on use"))
  }

  @Test(
    "an outcome becomes an exit status, and a token only where there is one",
    arguments: [
      ("valid", .done), ("stale", .done), ("expired", .unreachable), ("rejected", .refused),
      ("reauthenticate", .signInNeeded), ("storeLocked", .storeLocked), ("busy", .busy), ("another", .failed),
    ] as [(String, CommandStatus)])
  func outcome(name: String, ending: CommandStatus) throws {
    #expect(TokenReport(try json(#"{"outcome": "\#(name)"}"#), mustBeNew: false).ending == ending)
    #expect(TokenReport(try json(#"{"outcome": "\#(name)"}"#), mustBeNew: false).token == nil)
  }

  @Test("a renewal that another process has is busy, and not a provider out of reach")
  func otherRenewal() throws {
    let answer = try json(#"{"outcome": "stale", "accessToken": "a", "error": {"status": "busy"}}"#)
    #expect(TokenReport(answer, mustBeNew: true).ending == .busy)
    #expect(TokenReport(answer, mustBeNew: false).ending == .done)
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

  @Test(
    "a store is well only if it is ours, for us alone, and can be used",
    arguments: [
      (#"{"exists": false}"#, .warning), (#"{"exists": true, "owner": 7, "permissions": "0700"}"#, .good),
      (#"{"exists": true, "owner": 8, "permissions": "0700"}"#, .bad),
      (#"{"exists": true, "owner": 7, "permissions": "0750"}"#, .bad),
      (#"{"exists": true, "owner": 7, "permissions": "02700"}"#, .good),
      (#"{"exists": true, "owner": 7, "permissions": "02750"}"#, .bad),
      (
        #"{"exists": true, "owner": 7, "permissions": "0700", "problem": {"status": "storeIO", "message": "m"}}"#,
        .bad
      ),
    ] as [(String, Finding.Verdict)])
  func store(facts: String, verdict: Finding.Verdict) throws {
    let findings = Finding.store(try json(facts), user: 7)
    #expect(findings.map { $0.verdict } == [verdict])
  }

  @Test("a damaged file is bad, one that was mended is worth knowing")
  func files() throws {
    let facts = #"""
      {"exists": true, "owner": 7, "permissions": "0700", "files": [
        {"name": "a", "kind": "account"}, {"name": "b", "problem": {"message": "torn"}},
        {"name": "c.corrupt-1", "setAsideFrom": "c", "problem": {"message": "torn"}},
        {"name": "d.corrupt-1", "setAsideFrom": "d"}]}
      """#
    let findings = Finding.store(try json(facts), user: 7)
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
  func keyring() throws {
    let locked = try json(#"{"presence": "locked", "reason": "r"}"#)
    #expect(Finding.keyring(locked, isUsed: true)?.verdict == .bad)
    #expect(Finding.keyring(locked, isUsed: false)?.verdict == .warning)
    #expect(Finding.keyring(try json(#"{"presence": "absent"}"#), isUsed: true)?.verdict == .bad)
    #expect(Finding.keyring(try json(#"{"presence": "present"}"#), isUsed: true)?.verdict == .good)
    #expect(Finding.keyring(nil, isUsed: true) == nil)
  }
}
