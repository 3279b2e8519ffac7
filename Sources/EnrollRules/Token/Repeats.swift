// The repetitions of a request that are still allowed (R15).

/// The reasons for which a request may be sent once more, although its code or token works only once (R15). Each
/// reason allows one repetition.
package struct Repeats {
  /// The server demands a nonce in the DPoP proof.
  package var withNonce = true
  /// The server refuses the client's secret.
  package var withOtherMethod = true
  /// The server refuses a signature of the client that was made with a time other than the server's.
  package var withServerTime = true

  package init() {}
}
