// How a client verifies that it talks to the right server (R19). Two clients of one provider may have different
// settings: a development configuration may trust its own certificate authority, or use the host's transport.

/// How a client connects to servers, and which certificates it trusts.
public struct TrustSettings: Equatable, Sendable {
  /// ``Configuration/caFile``.
  public var caFile: String?
  /// ``Configuration/allowsLoopbackHTTP``.
  public var allowsLoopbackHTTP: Bool
  /// Whether the host sends requests itself. If so, EnrollKit does not know which servers the host trusts.
  public var hasOwnTransport: Bool

  public init(caFile: String? = nil, allowsLoopbackHTTP: Bool = false, hasOwnTransport: Bool = false) {
    self.caFile = caFile
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
    self.hasOwnTransport = hasOwnTransport
  }

  /// The settings of a client with the defaults: https, and the system's certificate authorities.
  public static let standard = TrustSettings()
}
