// Functions that the linker puts in the place of others (scripts/build). What Embedded Swift's hash tables ask of the C
// library: a program then loads no mathematical library, and runs with a glibc older than 2.36, which has no arc4random_buf.
// And one function of Embedded Swift itself, for arm64.

#if hasFeature(Embedded)
  import CPosix

  /// The smallest whole number that is not less (C11 §7.12.9.1).
  @_silgen_name("enrollkit_ceiling")
  public func ceiling(_ value: Double) -> Double {
    // From 2^52 on every number is whole, and what is no number stays what it is.
    guard value.magnitude < 0x1p52 else { return value }
    let whole = Double(Int64(value))
    return whole < value ? whole + 1 : whole
  }

  /// The seed of the hash tables (arc4random(3)), for Linux alone: Android and Darwin have that function. Without the kernel's
  /// generator it is what was in the memory before.
  @_silgen_name("enrollkit_fill_random")
  public func fillRandom(_ buffer: UnsafeMutableRawPointer, _ count: Int) {
    var filled = 0
    while filled < count {
      let got = enroll_posix_random(buffer + filled, count - filled)
      guard got > 0 || enroll_posix_errno() == EINTR else { return }
      filled += max(got, 0)
    }
  }

  /// In the place of `swift_bridgeObjectRetain`, which returns the object of a text without the tag that it was given with. The
  /// compiler takes for granted that it is returned as it was, and on arm64 goes on with what was returned: a short text then
  /// looks like a long one somewhere in memory.
  @_silgen_name("enrollkit_bridge_object_retain")
  public func bridgeObjectRetain(_ object: UInt) -> UInt {
    enroll_posix_retain(object)
    return object
  }
#endif
