// Embedded Swift's hash tables call `ceil`, and nothing else here needs the mathematical library. The linker gives them this
// one (scripts/build-library), so that a program of the small flavour has one library less to load.

#if hasFeature(Embedded)
  /// The smallest whole number that is not less (C11 §7.12.9.1).
  @_silgen_name("enrollkit_ceiling")
  public func ceiling(_ value: Double) -> Double {
    // From 2^52 on every number is whole, and what is no number stays what it is.
    guard value.magnitude < 0x1p52 else { return value }
    let whole = Double(Int64(value))
    return whole < value ? whole + 1 : whole
  }
#endif
