// Whole numbers in headers and badly typed JSON.

enum DecimalText {
  /// Digits only, without sign or space; one that does not fit is the largest that does.
  static func parse(_ text: String) -> Int64? {
    guard (1...32).contains(text.utf8.count) else { return nil }
    var value: Int64 = 0
    for byte in text.utf8 {
      guard ASCII.isDigit(byte) else { return nil }
      let (scaled, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = scaled.addingReportingOverflow(Int64(byte - 0x30))
      value = overflow || carry || value == .max ? .max : sum
    }
    return value
  }
}
