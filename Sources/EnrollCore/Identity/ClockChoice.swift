// By which clock an id_token is judged that came with tokens (R25). One answer may tell a wrong time, and so may the device:
// the first clock by which every rule holds is taken for the server's.

import EnrollCrypto

extension Engine {
  /// Proves an id_token by one of the clocks that may be the server's.
  /// - Parameters:
  ///   - expected: by this machine's clock.
  ///   - answered: what the `Date` of the answer says of the server's clock; nil when it says nothing.
  /// - Returns: also the difference of the clock by which it is proven.
  /// - Throws: as ``ProviderDirectory/verify(_:expecting:cancellation:)``; the message names the clocks that were tried.
  func prove(
    _ idToken: Secret, expecting expected: IDTokenExpectations, answeredOffset answered: Int64?,
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> (IDToken, offsetSeconds: Int64?) {
    let signed = try provider.prove(
      IDToken.Unverified(parsing: idToken), algorithms: expected.algorithms, cancellation: cancellation)
    var refusals: [EnrollError] = []
    for clock in ClockChoice(answered: answered, known: try store.read(account)?.serverClock.offsetSeconds)
      .all
    {
      var expected = expected
      expected.now = expected.now + clock.offsetSeconds
      expected.clock = clock.name
      do throws(EnrollError) {
        return (try signed.checked(against: expected), clock.offsetSeconds)
      } catch {
        // A refusal that has nothing to do with time is the same by every clock, and is told once.
        if !refusals.contains(error) { refusals.append(error) }
      }
    }
    var refusal = refusals[0]
    for other in refusals.dropFirst() { refusal = refusal.saying(refusal.message + "; " + other.message) }
    throw refusal
  }
}

/// The clocks that may be the server's, in the order in which they are tried.
struct ClockChoice {
  private(set) var all: [(name: String, offsetSeconds: Int64)] = []

  init(answered: Int64?, known: Int64?) {
    add("the answer's Date", answered)
    add("the clock that was learned before", known)
    add("this machine's clock", 0)
  }

  private mutating func add(_ name: String, _ offsetSeconds: Int64?) {
    guard let offsetSeconds else { return }
    if let same = all.firstIndex(where: { $0.offsetSeconds == offsetSeconds }) {
      all[same].name += " and " + name
    } else {
      all.append((name, offsetSeconds))
    }
  }
}
