// By what a client tells that the server that answers is the one that was meant (R19). Two clients of one provider may
// differ in it: a development configuration trusts an authority of its own, or speaks through a transport of the host's.

/// How a client reaches servers, and which of them it believes.
public struct TrustSettings: Equatable, Sendable {
  /// ``Configuration/caFile``.
  public var caFile: String?
  /// ``Configuration/allowsLoopbackHTTP``.
  public var allowsLoopbackHTTP: Bool
  /// The host sends requests itself: whom it believes is not known here.
  public var hasOwnTransport: Bool

  public init(caFile: String? = nil, allowsLoopbackHTTP: Bool = false, hasOwnTransport: Bool = false) {
    self.caFile = caFile
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
    self.hasOwnTransport = hasOwnTransport
  }

  /// Those of a client that is told nothing about it: https, and the system's authorities.
  public static let standard = TrustSettings()
}
