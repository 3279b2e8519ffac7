// The name of a transaction.

/// Names a transaction to the host, which may keep it for another process.
public struct TransactionID: ExactText {
  public let text: String

  public init(_ text: String) { self.text = text }

  /// A new one, of 128 random bits.
  init(from random: any RandomSource) throws(EnrollError) {
    self.init(random: try random.bytes(16))
  }

  /// A new one of 16 random bytes.
  init(random bytes: [UInt8]) { self.init(Base64URL.encode(bytes)) }
}
