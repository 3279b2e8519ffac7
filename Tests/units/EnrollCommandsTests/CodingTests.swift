import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Testing

@testable import EnrollCommands

@Suite("States, outcomes, errors and events as JSON")
struct CodingTests {
  private static let error = EnrollError(
    .server, "status 503", field: "f", httpStatus: 503, oauthError: "temporarily_unavailable",
    retryAfterSeconds: 7)
  private static let errorJSON =
    #"{"status":"server","code":-33,"blame":"server","retryable":true,"message":"status 503","field":"f","#
    + #""httpStatus":503,"oauthError":"temporarily_unavailable","retryAfter":7}"#

  private func text(_ json: JSON) -> String { String(decoding: json.serialized(), as: UTF8.self) }

  @Test("an error says its status, number, blame and what helps; what it does not know is absent")
  func errors() {
    expect(text(Self.error.json), is: Self.errorJSON)
    expect(
      text(EnrollError(.handle, "no").json),
      is: #"{"status":"handle","code":-2,"blame":"caller","retryable":false,"message":"no"}"#)
  }

  @Test("every error fits its schema", arguments: EnrollError.Code.allCases)
  func errorSchema(code: EnrollError.Code) throws {
    try Schema.error.check(EnrollError(code, "text").json)
  }

  private static let states: [(RegistrationState, String)] = [
    (.starting, #"{"state":"starting"}"#),
    (.unregistered, #"{"state":"unregistered"}"#),
    (
      .authenticating(transactionID: "t", step: .browser),
      #"{"state":"authenticating","transaction":"t","step":"browser"}"#
    ),
    (
      .awaitingConfirmation(transactionID: "t", profile: JSONObject([("sub", .string("alice"))])),
      #"{"state":"awaitingConfirmation","transaction":"t","profile":{"sub":"alice"}}"#
    ),
    (.active(.notNative), #"{"state":"active","reason":"notNative"}"#),
    (.active(.valid), #"{"state":"active","reason":"valid"}"#),
    (.active(.renewed), #"{"state":"active","reason":"renewed"}"#),
    (.active(.confirmed), #"{"state":"active","reason":"confirmed"}"#),
    (
      .renewalFailed(.init(error: error, remedy: .wait, isTokenUsable: true)),
      #"{"state":"failed","reason":"renewal","error":\#(errorJSON),"remedy":"wait","tokenUsable":true}"#
    ),
    (
      .registrationFailed(error),
      #"{"state":"failed","reason":"registration","error":\#(errorJSON)}"#
    ),
  ]

  @Test("every state has its own object, which fits the schema", arguments: 0..<states.count)
  func state(index: Int) throws {
    let (state, expected) = Self.states[index]
    let json = state.json(choices: [])
    expect(text(json), is: expected)
    try Schema.state.check(json)
  }

  @Test("no state is without a row in that table")
  func allStates() {
    expect(Set(Self.states.map(\.0.kind)), is: Set(RegistrationState.Kind.allCases))
  }

  @Test("the configured choices accompany state D, and no other")
  func choices() throws {
    let choices = [
      RegistrationChoice(kind: "google", connection: "google-oauth2", label: "Google"),
      RegistrationChoice(kind: "email", label: "E-mail", guidance: "We send you a link."),
    ]
    let json = RegistrationState.unregistered.json(choices: choices)
    expect(
      text(json),
      is: #"{"state":"unregistered","choices":[{"kind":"google","connection":"google-oauth2","#
        + #""label":"Google"},{"kind":"email","label":"E-mail","guidance":"We send you a link."}]}"#)
    try Schema.state.check(json)
    expect(RegistrationState.starting.json(choices: choices)["choices"], is: nil)
  }

  private static let token = AccessToken(
    value: Secret("at"), tokenType: "Bearer", expiresAt: UnixTime(seconds: 2_000_000_000))
  private static let tokenJSON = #""accessToken":"at","tokenType":"Bearer","expiresAt":2000000000"#

  private static let outcomes: [(AccessOutcome, String)] = [
    (.valid(token), #"{"outcome":"valid",\#(tokenJSON)}"#),
    (
      .stale(token, reason: error),
      #"{"outcome":"stale",\#(tokenJSON),"reason":"server","error":\#(errorJSON)}"#
    ),
    (
      .expired(offlineSince: UnixTime(seconds: 5), retryAfterSeconds: 7, reason: error),
      #"{"outcome":"expired","offlineSince":5,"retryAfter":7,"reason":"server","error":\#(errorJSON)}"#
    ),
    (
      .expired(offlineSince: nil, retryAfterSeconds: nil, reason: error),
      #"{"outcome":"expired","reason":"server","error":\#(errorJSON)}"#
    ),
    (
      .rejected(reason: error),
      #"{"outcome":"rejected","reason":"temporarily_unavailable","error":\#(errorJSON)}"#
    ),
    (.reauthenticate(reason: "invalid_grant"), #"{"outcome":"reauthenticate","reason":"invalid_grant"}"#),
    (.storeLocked, #"{"outcome":"storeLocked"}"#),
    (.busy, #"{"outcome":"busy"}"#),
  ]

  @Test("every outcome has its own object, which fits the schema", arguments: 0..<outcomes.count)
  func outcome(index: Int) throws {
    let (outcome, expected) = Self.outcomes[index]
    expect(text(outcome.json), is: expected)
    try Schema.access.check(outcome.json)
  }

  @Test("a stand-in token has no end")
  func standIn() throws {
    let token = AccessToken(value: Secret("s"), tokenType: "Bearer", expiresAt: UnixTime(seconds: .max))
    let json = AccessOutcome.valid(token).json
    expect(text(json), is: #"{"outcome":"valid","accessToken":"s","tokenType":"Bearer"}"#)
    try Schema.access.check(json)
  }

  @Test("every notification fits the parameters of its event")
  func notifications() throws {
    let all: [EnrollEvent] = [
      .registrationChanged(.unregistered), .registrationSettled(.active(.valid)),
      .tokenRenewed(expiresAt: UnixTime(seconds: 9)), .tokenRenewalFailed(Self.error), .logoutFinished,
      .errorReported(Self.error),
    ]
    for notification in all {
      let event = try #require(EventKind.all.first { $0.name == notification.name })
      try event.parameters.check(.object(notification.parameters(choices: [])))
    }
  }
}
