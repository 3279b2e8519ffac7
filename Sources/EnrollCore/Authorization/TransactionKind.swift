// The ways to tokens that the host can choose from.

/// Which way leads to tokens.
public enum TransactionKind: String, Sendable, CaseIterable {
  /// The authorize request in the browser (OpenID Connect Core §3.1).
  case signIn
  /// A registration by e-mail link (flows.md §3).
  case register
  /// A one-time code, or a link, to an address or a number (flows.md §6).
  case passwordless
  /// With the help of another app on the device (flows.md §9).
  case app2app
  /// Through a back end that signs in on the app's behalf (flows.md §10).
  case bff
  /// A code that is typed on another device (RFC 8628).
  case device
}
