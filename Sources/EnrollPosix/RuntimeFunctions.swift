// Functions with which the linker replaces other functions (scripts/build). Two of them are for Embedded Swift's hash
// tables: with these two, a program loads no math library, and it runs with a glibc older than 2.36, which has no
// arc4random_buf. The third replaces a function of Embedded Swift on arm64.

#if hasFeature(Embedded)
  import CPosix

  /// The smallest whole number that is not less than `value` (C11 §7.12.9.1).
  @_silgen_name("enrollkit_ceiling")
  public func ceiling(_ value: Double) -> Double {
    // Every number from 2^52 on is whole and is returned unchanged. So is NaN.
    guard value.magnitude < 0x1p52 else { return value }
    let whole = Double(Int64(value))
    return whole < value ? whole + 1 : whole
  }

  /// The seed of the hash tables (arc4random(3)), only for Linux: Android and Darwin have that function. If the
  /// kernel's generator fails, the memory keeps its old content.
  @_silgen_name("enrollkit_fill_random")
  public func fillRandom(_ buffer: UnsafeMutableRawPointer, _ count: Int) {
    var filled = 0
    while filled < count {
      let got = enroll_posix_random(buffer + filled, count - filled)
      guard got > 0 || enroll_posix_errno() == EINTR else { return }
      filled += max(got, 0)
    }
  }

  /// Replaces `swift_bridgeObjectRetain`, which returns the object of a string without its tag bits. But the compiler
  /// assumes that the function returns its argument unchanged, and on arm64 it continues with the returned value: a
  /// short string then looks like a long string at some address.
  @_silgen_name("enrollkit_bridge_object_retain")
  public func bridgeObjectRetain(_ object: UInt) -> UInt {
    enroll_posix_retain(object)
    return object
  }
#endif
