// The interface to the cryptographic generator of random bytes.

public import EnrollRules

/// The source of random bytes.
public protocol RandomSource: AnyObject, Sendable {
  /// `count` bytes from a cryptographic generator.
  /// - Throws: `.internal` if the system cannot provide random bytes. The function never returns weaker bytes instead.
  func bytes(_ count: Int) throws(EnrollError) -> [UInt8]
}
