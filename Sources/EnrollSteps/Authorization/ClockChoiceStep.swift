// Chooses the clock against which an id_token from a token response is checked (R25). The time of the response may be
// wrong, and so may the time of the device. The first clock with which the id_token breaks no rule counts as the
// server's clock.

import EnrollCrypto
import EnrollRules

extension GrantStep {
  /// Verifies an id_token with one of the clocks that may show the server's time.
  /// - Parameters:
  ///   - expected: the expectations, with the time of this machine's clock.
  ///   - answered: the offset of the server's clock according to the response's `Date`; nil if the response has no
  ///     `Date`.
  /// - Returns: the id_token, and the offset of the clock with which it was verified.
  /// - Throws: as ``ProviderDirectory/verify(_:expecting:cancellation:)``; the message names the clocks that were
  ///   tried.
  func prove(
    _ idToken: Secret, expecting expected: IDTokenExpectations, answeredOffset answered: Int64?,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (IDToken, offsetSeconds: Int64?) {
    let signed = try provider.prove(
      IDToken.Unverified(parsing: idToken), algorithms: expected.algorithms, cancellation: cancellation)
    var refusals: [EnrollError] = []
    let known = try store.read(account)?.serverClock.offsetSeconds
    // The nonce shows that the token was made for this request, so its iat is recent. Some providers send no Date
    // (Keycloak).
    let issued = answered == nil && expected.nonce != nil ? signed.claimedIssuedAt : nil
    for clock in ClockChoice(
      answered: answered, known: known, issued: issued.map { $0.since(expected.now) }
    ).all {
      var expected = expected
      expected.now = expected.now + clock.offsetSeconds
      expected.clock = clock.name
      do throws(EnrollError) {
        return (try signed.checked(against: expected), clock.offsetSeconds)
      } catch {
        // An error that does not depend on the time is the same with every clock, and is reported once.
        if !refusals.contains(error) { refusals.append(error) }
      }
    }
    var refusal = refusals[0]
    for other in refusals.dropFirst() { refusal = refusal.saying(refusal.message + "; " + other.message) }
    throw refusal
  }
}
