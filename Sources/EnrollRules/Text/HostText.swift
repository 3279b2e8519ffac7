// Hosts and ports as R9 allows them: only texts that every parser reads as the same name or address.

enum HostText {
  /// Whether the name is a host, which consists of labels of letters, digits, inner hyphens and underscores. With
  /// `mayBeAddress`, a name that ends in a number must be a whole IPv4 address, because browsers read `0x7f.1` and
  /// `2130706433` as addresses; an IPv6 address in brackets is also allowed.
  @_optimize(speed)
  static func isHost(_ bytes: Span<UInt8>, _ name: Range<Int>, mayBeAddress: Bool) -> Bool {
    guard (1...253).contains(name.count) else { return false }
    if bytes[name.lowerBound] == 0x5B {
      return mayBeAddress && bytes[name.upperBound - 1] == 0x5D
        && isIPv6(bytes, (name.lowerBound + 1)..<(name.upperBound - 1))
    }
    var label = name.lowerBound
    var index = name.lowerBound
    while index < name.upperBound {
      let byte = bytes[index]
      if byte == 0x2E {
        guard isLabel(bytes, label..<index) else { return false }
        label = index + 1
      } else if !ASCII.isLetter(byte) && !ASCII.isDigit(byte) && byte != 0x2D && byte != 0x5F {
        return false
      }
      index += 1
    }
    let last = label..<index
    guard isLabel(bytes, last) else { return false }
    return !mayBeAddress || !readsAsNumber(bytes, last) || isIPv4(bytes, name)
  }

  /// Whether the host is `localhost`, in `127.0.0.0/8`, or `[::1]`. The name must be one that
  /// ``isHost(_:_:mayBeAddress:)`` accepts.
  static func isLoopback(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
    if bytes[name.lowerBound] == 0x5B { return ASCII.equals(bytes, name, "[::1]") }
    if name.count > 4, ASCII.equals(bytes, name.lowerBound..<(name.lowerBound + 4), "127.") {
      return isIPv4(bytes, name)
    }
    return ASCII.equalsIgnoringCase(bytes, name, "localhost")
  }

  /// Reads a port: 1 to 65535, written without leading zeros.
  static func port(_ bytes: Span<UInt8>, _ digits: Range<Int>) throws(StrictURL.Refusal) -> Int {
    guard (1...5).contains(digits.count), bytes[digits.lowerBound] != 0x30 else { throw .port }
    var value = 0
    for index in digits {
      guard ASCII.isDigit(bytes[index]) else { throw .port }
      value = value * 10 + Int(bytes[index] - 0x30)
    }
    guard value <= 65535 else { throw .port }
    return value
  }

  private static func isLabel(_ bytes: Span<UInt8>, _ label: Range<Int>) -> Bool {
    (1...63).contains(label.count) && bytes[label.lowerBound] != 0x2D && bytes[label.upperBound - 1] != 0x2D
  }

  /// Whether the last label of a host reads as a number: the check "ends in a number" of the URL Standard.
  private static func readsAsNumber(_ bytes: Span<UInt8>, _ label: Range<Int>) -> Bool {
    guard ASCII.isDigit(bytes[label.lowerBound]) else { return false }
    let isHex =
      label.count >= 2 && ASCII.equalsIgnoringCase(bytes, label.lowerBound..<(label.lowerBound + 2), "0x")
    for index in isHex ? (label.lowerBound + 2)..<label.upperBound : label {
      guard isHex ? PercentEncoding.hexValue(bytes[index]) != nil : ASCII.isDigit(bytes[index]) else {
        return false
      }
    }
    return true
  }

  /// Whether the name is an IPv4 address: four numbers up to 255 without leading zeros.
  private static func isIPv4(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
    var parts = 0
    var start = name.lowerBound
    for index in name.lowerBound...name.upperBound where index == name.upperBound || bytes[index] == 0x2E {
      guard isOctet(bytes, start..<index) else { return false }
      parts += 1
      start = index + 1
    }
    return parts == 4
  }

  /// Whether the bytes are an IPv6 address as browsers write it (RFC 5952 §4, URL Standard): groups without
  /// leading zeros, no zone, and `::` for the longest run of two or more zeros, or for the first of several
  /// such runs.
  private static func isIPv6(_ bytes: Span<UInt8>, _ address: Range<Int>) -> Bool {
    var groups = 0
    // The number of groups before `::`; nil as long as no `::` was found.
    var gap: Int?
    // The longest written runs of zeros, before `::` and after it, and the run that ends at the current group.
    var (before, after, run) = (0, 0, 0)
    var index = address.lowerBound
    while index < address.upperBound {
      if bytes[index] == 0x3A {
        // A second colon is valid at the beginning of the address, or after a group.
        let isFirst = index == address.lowerBound
        guard gap == nil, run == 0 || isFirst else { return false }
        if isFirst {
          index += 1
          guard index < address.upperBound, bytes[index] == 0x3A else { return false }
        }
        gap = groups
        index += 1
        // A group of zeros next to `::` is refused, because browsers write it as part of `::`.
        if index < address.upperBound, bytes[index] == 0x30 { return false }
        continue
      }
      let start = index
      while index < address.upperBound, PercentEncoding.hexValue(bytes[index]) != nil { index += 1 }
      guard (1...4).contains(index - start), index - start == 1 || bytes[start] != 0x30 else { return false }
      groups += 1
      run = bytes[start] == 0x30 ? run + 1 : 0
      if gap == nil { before = max(before, run) } else { after = max(after, run) }
      guard index < address.upperBound else { break }
      guard bytes[index] == 0x3A, index + 1 < address.upperBound else { return false }
      index += 1
    }
    guard gap != nil else { return groups == 8 && before < 2 }
    let length = 8 - groups
    return length >= 2 && before < length && after <= length
  }

  private static func isOctet(_ bytes: Span<UInt8>, _ digits: Range<Int>) -> Bool {
    guard (1...3).contains(digits.count), digits.count == 1 || bytes[digits.lowerBound] != 0x30 else {
      return false
    }
    var value = 0
    for index in digits {
      guard ASCII.isDigit(bytes[index]) else { return false }
      value = value * 10 + Int(bytes[index] - 0x30)
    }
    return value <= 255
  }
}
