// Which repetitions of a request are left (R15).

/// The reasons for which a request may be sent once more, although its code or token works once (R15): each of them
/// once.
package struct Repeats {
  /// The server demands a nonce in the DPoP proof.
  package var withNonce = true
  /// The server refuses the client's secret.
  package var withOtherMethod = true
  /// The server refuses a signature of the client that was made with another time than the server's.
  package var withServerTime = true

  package init() {}
}
