// Comparison whose time does not tell where two values differ.

import COpenSSL

public enum ConstantTime {
  /// Whether both hold the same bytes. The lengths are no secret.
  public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return enroll_equal_memory(left, right, left.count) == 1
  }
}
