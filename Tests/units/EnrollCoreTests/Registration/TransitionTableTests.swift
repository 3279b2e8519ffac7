import EnrollRules
import EnrollSteps
import EnrollJSON
import EnrollPosix
import Expectations
import Testing

/// The whole table, written a second time by hand: state, event, next state. Other pairs are illegal. A
/// change of the table in the code must be made here, too.
private let legal: [(RegistrationState.Kind, RegistrationEvent.Kind, RegistrationState.Kind)] = {
  typealias State = RegistrationState.Kind
  typealias Event = RegistrationEvent.Kind
  let rows: [(Event, [(State, State)])] = [
    (.standInUsed, [(.starting, .notNative), (.notNative, .notNative)]),
    (
      .tokenValid,
      [
        (.starting, .valid), (.unregistered, .valid), (.renewalFailed, .valid), (.registrationFailed, .valid),
        (.authenticating, .valid), (.awaitingConfirmation, .valid), (.valid, .valid), (.renewed, .renewed),
        (.confirmed, .confirmed),
      ]
    ),
    (
      .tokenRenewed,
      [
        (.starting, .renewed), (.valid, .renewed), (.renewed, .renewed), (.confirmed, .renewed),
        (.unregistered, .renewed), (.renewalFailed, .renewed), (.registrationFailed, .renewed),
      ]
    ),
    (
      .tokenMissing,
      [
        (.starting, .unregistered), (.valid, .unregistered), (.renewed, .unregistered),
        (.confirmed, .unregistered),
        (.unregistered, .unregistered), (.renewalFailed, .unregistered),
        (.awaitingConfirmation, .unregistered),
        (.authenticating, .unregistered), (.registrationFailed, .registrationFailed),
      ]
    ),
    (
      .renewalFailed,
      [
        (.starting, .renewalFailed), (.valid, .renewalFailed), (.renewed, .renewalFailed),
        (.confirmed, .renewalFailed), (.unregistered, .renewalFailed), (.renewalFailed, .renewalFailed),
        (.registrationFailed, .renewalFailed),
      ]
    ),
    (
      .begun,
      [
        (.valid, .authenticating), (.renewed, .authenticating), (.confirmed, .authenticating),
        (.unregistered, .authenticating), (.renewalFailed, .authenticating),
        (.registrationFailed, .authenticating),
        (.authenticating, .authenticating),
      ]
    ),
    (
      .advanced,
      [
        (.starting, .authenticating), (.valid, .authenticating), (.renewed, .authenticating),
        (.confirmed, .authenticating), (.unregistered, .authenticating), (.renewalFailed, .authenticating),
        (.registrationFailed, .authenticating), (.authenticating, .authenticating),
        (.awaitingConfirmation, .authenticating),
      ]
    ),
    (.dismissed, [(.authenticating, .unregistered)]),
    (.failed, [(.authenticating, .registrationFailed)]),
    (.returnedValid, [(.authenticating, .valid)]),
    (.returnedRenewed, [(.authenticating, .renewed)]),
    (.returnedConfirmed, [(.authenticating, .confirmed)]),
    (.returnedFailed, [(.authenticating, .renewalFailed)]),
    (
      .checkRefused,
      [
        (.starting, .renewalFailed), (.valid, .renewalFailed), (.renewed, .renewalFailed),
        (.confirmed, .renewalFailed), (.renewalFailed, .renewalFailed), (.registrationFailed, .renewalFailed),
        (.awaitingConfirmation, .renewalFailed),
      ]
    ),
    (
      .checkMismatched,
      [
        (.starting, .registrationFailed), (.valid, .registrationFailed), (.renewed, .registrationFailed),
        (.confirmed, .registrationFailed), (.renewalFailed, .registrationFailed),
        (.registrationFailed, .registrationFailed), (.awaitingConfirmation, .registrationFailed),
      ]
    ),
    (
      .tokensArrived,
      [
        (.authenticating, .awaitingConfirmation), (.starting, .awaitingConfirmation),
        (.awaitingConfirmation, .awaitingConfirmation), (.unregistered, .awaitingConfirmation),
        (.valid, .awaitingConfirmation), (.renewed, .awaitingConfirmation),
        (.renewalFailed, .awaitingConfirmation),
        (.registrationFailed, .awaitingConfirmation), (.confirmed, .awaitingConfirmation),
      ]
    ),
    (.confirmed, [(.awaitingConfirmation, .confirmed)]),
    (
      .retried,
      [
        (.awaitingConfirmation, .unregistered), (.registrationFailed, .unregistered),
        (.renewalFailed, .unregistered),
        (.authenticating, .unregistered),
      ]
    ),
    (
      .cleared,
      [
        (.notNative, .notNative), (.starting, .unregistered), (.valid, .unregistered),
        (.renewed, .unregistered),
        (.unregistered, .unregistered), (.renewalFailed, .unregistered), (.registrationFailed, .unregistered),
        (.awaitingConfirmation, .unregistered), (.confirmed, .unregistered), (.authenticating, .unregistered),
      ]
    ),
  ]
  return rows.flatMap { event, pairs in pairs.map { ($0.0, event, $0.1) } }
}()

@Suite("The registration state machine (flows.md §7)")
struct TransitionTableTests {
  private let profile = JSONObject([("sub", .string("alice"))])
  private let trouble = EnrollError(.network, "down")

  private func state(_ kind: RegistrationState.Kind) -> RegistrationState {
    switch kind {
    case .starting: .starting
    case .notNative: .active(.notNative)
    case .valid: .active(.valid)
    case .renewed: .active(.renewed)
    case .confirmed: .active(.confirmed)
    case .unregistered: .unregistered
    case .renewalFailed: .renewalFailed(.init(error: trouble, remedy: .wait, isTokenUsable: true))
    case .registrationFailed: .registrationFailed(trouble)
    case .awaitingConfirmation: .awaitingConfirmation(transactionID: "t", profile: profile)
    case .authenticating: .authenticating(transactionID: "t", step: .browser)
    }
  }

  private func event(_ kind: RegistrationEvent.Kind) -> RegistrationEvent {
    switch kind {
    case .standInUsed: .standInUsed
    case .tokenValid: .tokenValid
    case .tokenRenewed: .tokenRenewed
    case .tokenMissing: .tokenMissing
    case .renewalFailed: .renewalFailed(.init(error: trouble, remedy: .retry, isTokenUsable: false))
    case .begun: .begun(transactionID: "u", step: .browser)
    case .advanced: .advanced(transactionID: "u", step: .exchanging)
    case .dismissed: .dismissed
    case .failed: .failed(trouble)
    case .returnedValid: .returnedValid
    case .returnedRenewed: .returnedRenewed
    case .returnedConfirmed: .returnedConfirmed
    case .returnedFailed: .returnedFailed(.init(error: trouble, remedy: .wait, isTokenUsable: true))
    case .checkRefused: .checkRefused(.init(error: trouble, remedy: .registerAgain, isTokenUsable: true))
    case .checkMismatched: .checkMismatched(trouble)
    case .tokensArrived: .tokensArrived(transactionID: "t", profile: profile)
    case .confirmed: .confirmed
    case .retried: .retried
    case .cleared: .cleared
    }
  }

  @Test(
    "every pair of state and event leads where the table says, or is refused and changes nothing",
    arguments: RegistrationState.Kind.allCases, RegistrationEvent.Kind.allCases)
  func pair(from: RegistrationState.Kind, on: RegistrationEvent.Kind) throws {
    let target = legal.first { $0.0 == from && $0.1 == on }?.2
    expect(TransitionTable.target(from: from, on: on), is: target)
    let before = state(from)
    expect(before.kind, is: from)
    do throws(EnrollError) {
      let after = try before.after(event(on))
      expect(after.kind, is: target)
    } catch {
      expect(target, is: nil)
      expect(error.code, is: .illegalState)
      #expect(error.message.contains(", because ") || error.message.contains("there is nothing to confirm"))
    }
  }

  @Test("a retry in the middle of an exchange is refused: a code that was sent cannot be unsent (R15)")
  func retryWhileExchanging() {
    let exchanging = RegistrationState.authenticating(transactionID: "t", step: .exchanging)
    #expect(throws: EnrollError.self) { try exchanging.after(.retried) }
  }

  @Test("nothing else is begun while tokens wait for a PIN, as in G")
  func beginWhileAtPIN() {
    let waiting = RegistrationState.authenticating(transactionID: "t", step: .pin)
    #expect(throws: EnrollError.self) { try waiting.after(.begun(transactionID: "u", step: .browser)) }
  }

  @Test("payloads travel with the event")
  func payloads() throws {
    let waiting = RegistrationState.authenticating(transactionID: "t", step: .browser)
    try expect(
      waiting.after(.tokensArrived(transactionID: "t", profile: profile)),
      is: .awaitingConfirmation(transactionID: "t", profile: profile))
    try expect(waiting.after(.failed(trouble)), is: .registrationFailed(trouble))
    try expect(
      waiting.after(.advanced(transactionID: "u", step: .exchanging)),
      is: .authenticating(transactionID: "u", step: .exchanging))
  }

  @Test("an illegal event changes nothing in an engine, and is told to nobody")
  func engineRefuses() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = try bench.signedIn()
    _ = try engine.registration.confirm()
    let (before, told, record) = (engine.state, bench.seen.names.count, try bench.record)
    expect(code { _ = try engine.registration.confirm() }, is: .illegalState)
    let wrong = #expect(throws: EnrollError.self) { try engine.registration.confirm() }
    #expect(wrong?.message.hasPrefix("there is nothing to confirm: expected a sign-in that waits") ?? false)
    expect(code { _ = try engine.registration.retry(cancellation: nil) }, is: .illegalState)
    #expect(engine.state == before && bench.seen.names.count == told)
    try expect(bench.record, is: record)
  }

  @Test("the letters A to H each name one state")
  func letters() {
    let letters = RegistrationState.Kind.allCases.compactMap(\.letter)
    expect(letters.sorted(), is: ["A", "B", "C", "D", "E", "F", "G", "H"])
  }
}
