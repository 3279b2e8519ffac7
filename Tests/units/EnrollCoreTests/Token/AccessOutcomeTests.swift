import EnrollRules
import EnrollCrypto
import Expectations
import Testing

@Suite("What a caller without a token is told (flows.md §8)")
struct AccessOutcomeTests {
  static let reason = EnrollError(
    .server, "status 503 came", httpStatus: 503, oauthError: "temporarily_unavailable", retryAfterSeconds: 7)

  static let ended = AccessOutcome.reauthenticate(reason: "invalid_grant")

  static let failures: [(AccessOutcome, EnrollError.Code, Int64?)] = [
    (.expired(offlineSince: nil, retryAfterSeconds: 9, reason: reason), .expired, 9),
    (.expired(offlineSince: nil, retryAfterSeconds: nil, reason: reason), .expired, 7),
    (.rejected(reason: reason), .rejected, 7),
    (ended, .reauthenticate, nil),
    (.storeLocked, .storeLocked, nil), (.busy, .busy, nil),
  ]

  @Test("every outcome without a token is one error, which keeps what the provider said", arguments: failures)
  func failure(outcome: AccessOutcome, code: EnrollError.Code, retryAfter: Int64?) throws {
    let error = try #require(outcome.failure)
    #expect(error.code == code && error.code == outcome.kind.status && error.retryAfterSeconds == retryAfter)
    expect(error.httpStatus, is: retryAfter == nil ? nil : 503)
    expect(
      error.oauthError,
      is: outcome == Self.ended ? "invalid_grant" : retryAfter == nil ? nil : "temporarily_unavailable")
    #expect(throws: error) { _ = try outcome.token() }
  }

  @Test("a session that the provider ended is told in words, with its code; another reason is told as it is")
  func sessionEnded() throws {
    try expect(
      #require(Self.ended.failure).message,
      is: "the provider ended the session (invalid_grant); sign in again")
    let other = try #require(AccessOutcome.reauthenticate(reason: "no user is signed in").failure)
    #expect(other.message == "no user is signed in" && other.oauthError == nil)
  }

  @Test("the outcomes that a failed renewal led to say why it failed")
  func renewalFailure() throws {
    let token = AccessToken(value: Secret("a"), tokenType: "Bearer", expiresAt: UnixTime(seconds: 1))
    expect(AccessOutcome.stale(token, reason: Self.reason).renewalFailure, is: Self.reason)
    for (outcome, _, retryAfter) in Self.failures {
      expect(outcome.renewalFailure, is: retryAfter == nil ? nil : Self.reason, "\(outcome.kind)")
    }
    expect(AccessOutcome.valid(token).renewalFailure, is: nil)
  }

  @Test("an outcome with a token is none")
  func token() throws {
    let token = AccessToken(value: Secret("a"), tokenType: "Bearer", expiresAt: UnixTime(seconds: 1))
    for outcome in [AccessOutcome.valid(token), .stale(token, reason: Self.reason)] {
      #expect(outcome.failure == nil && outcome.kind.status == nil)
      try expect(outcome.token(), is: token)
    }
  }
}
