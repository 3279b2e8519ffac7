// Comparison whose time does not tell where two values differ.

import COpenSSL

public enum ConstantTime {
  /// Whether both hold the same bytes. The lengths are no secret.
  public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { equal(left, $0) } }
  }

  /// As ``equal(_:_:)``, where they are.
  public static func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.count == right.count && enroll_equal_memory(left.baseAddress, right.baseAddress, left.count) == 1
  }
}
