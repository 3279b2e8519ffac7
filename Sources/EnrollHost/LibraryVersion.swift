// The version, defined only here.

public enum LibraryVersion {
  public static let string = "0.1.0"
  /// The version of the C interface, major × 65536 + minor. It increases when the C interface changes.
  public static let abi: UInt32 = 0x0000_0001
}
