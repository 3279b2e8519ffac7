// The version, defined only here.

public enum LibraryVersion {
  public static let string = "0.1.0"
  /// Increases when the C interface changes: major × 65536 + minor.
  public static let abi: UInt32 = 0x0000_0001
}
