// The id by which a host knows a transaction.

/// Identifies a transaction to the host, which may store the id and use it in another process.
public struct TransactionID: ExactText {
  public let text: String

  public init(_ text: String) { self.text = text }

  /// A new id of 16 random bytes.
  package init(random bytes: [UInt8]) { self.init(Base64URL.encode(bytes)) }
}
