// One pass over a JSON text before jansson reads it. It limits the nesting, because jansson's own limit of 2048 levels
// overflows a small stack (R37). It finds numbers that jansson would refuse for their size, because a token response
// with a huge `expires_in` must still be read (R32). It refuses NUL, which jansson reads as the end of the text. It
// checks nothing else: it changes a number only if the number follows the grammar of RFC 8259 §6, so that no edit makes
// an invalid text valid.

struct JSONScan {
  /// Replaces the bytes of `range`.
  struct Edit {
    var range: Range<Int>
    var replacement: [UInt8]
  }

  /// The edits, in the order of the text; almost always empty.
  private(set) var edits: [Edit] = []
  /// An upper limit for the bytes of the longest string or number as jansson reads it.
  private(set) var longestToken = 0
  /// The bytes between the quotes, of all strings and keys together.
  private(set) var stringBytes = 0
  /// Whether no string has an escape, and no number has more characters than ``JSON/shortNumber``.
  private(set) var isSimple = true

  /// Scans the text.
  /// - Throws: if arrays and objects are nested deeper than `JSON.depthLimit`, and for NUL between values.
  @_optimize(speed)
  init(_ text: [UInt8]) throws(JSONError) {
    var depth = 0
    var at = 0
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "\""):
        let end = endOfString(text, from: at + 1)
        longestToken = max(longestToken, end - at)
        stringBytes += end - at - 2
        at = end
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        guard depth <= JSON.depthLimit else { throw JSONError("nested too deeply", offset: at) }
        at += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        at += 1
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        let number = NumberToken(text, from: at)
        if let replacement = number.replacement(in: text) {
          edits.append(Edit(range: at..<number.end, replacement: replacement))
        }
        let end = max(number.end, at + 1)
        if end - at > JSON.shortNumber { isSimple = false }
        // The replacement may be longer than the number.
        longestToken = max(longestToken, end - at + 24)
        at = end
      case 0: throw JSONError("not valid JSON", offset: at)
      default: at += 1
      }
    }
  }

  func applied(to text: [UInt8]) -> [UInt8] {
    guard !edits.isEmpty else { return text }
    var result: [UInt8] = []
    var copied = 0
    for edit in edits {
      result += text[copied..<edit.range.lowerBound]
      result += edit.replacement
      copied = edit.range.upperBound
    }
    return result + text[copied...]
  }

  /// The offset after the closing quote, or the end of the text.
  @_optimize(speed)
  private mutating func endOfString(_ text: [UInt8], from start: Int) -> Int {
    var at = start
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "\""): return at + 1
      case UInt8(ascii: "\\"):
        isSimple = false
        at += 2
      default: at += 1
      }
    }
    return text.count
  }
}

/// A number by the grammar of RFC 8259 §6, split into its parts.
private struct NumberToken {
  private(set) var end: Int
  private var isWellFormed = false
  private var isNegative = false
  private var isInteger = true
  private var digits: Range<Int>
  private var fraction: Range<Int>
  /// The exponent, limited to a value far outside Double's range.
  private var exponent = 0

  init(_ text: [UInt8], from start: Int) {
    var at = start
    func byte() -> UInt8? { at < text.count ? text[at] : nil }
    func run() -> Range<Int> {
      let first = at
      while let next = byte(), next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") { at += 1 }
      return first..<at
    }

    if byte() == UInt8(ascii: "-") {
      isNegative = true
      at += 1
    }
    digits = run()
    fraction = at..<at
    end = at
    guard !digits.isEmpty, digits.count == 1 || text[digits.lowerBound] != UInt8(ascii: "0") else { return }

    if byte() == UInt8(ascii: ".") {
      at += 1
      fraction = run()
      isInteger = false
      end = at
      guard !fraction.isEmpty else { return }
    }
    if let letter = byte(), letter == UInt8(ascii: "e") || letter == UInt8(ascii: "E") {
      at += 1
      let sign = byte()
      if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { at += 1 }
      let power = run()
      isInteger = false
      end = at
      guard !power.isEmpty else { return }
      for digit in text[power] { exponent = min(exponent * 10 + Int(digit & 0xF), 1 << 40) }
      if sign == UInt8(ascii: "-") { exponent = -exponent }
    }
    end = at
    isWellFormed = true
  }

  /// A number that jansson can read in place of this number; nil if jansson can read this number.
  func replacement(in text: [UInt8]) -> [UInt8]? {
    guard isWellFormed else { return nil }
    if isTooGreat(in: text) {
      return Array((isNegative ? "-" : "").utf8) + Array("1.7976931348623157e308".utf8)
    }
    guard isInteger, !fitsInt64(text[digits]) else { return nil }
    return (isNegative ? Array("-".utf8) : []) + text[digits] + Array("e0".utf8)
  }

  private func fitsInt64(_ digits: ArraySlice<UInt8>) -> Bool {
    guard digits.count >= 19 else { return true }
    guard digits.count == 19 else { return false }
    let greatest = isNegative ? "9223372036854775808" : "9223372036854775807"
    return !greatest.utf8.lexicographicallyPrecedes(digits)
  }

  /// Whether the number is beyond Double's greatest finite value, 1.7976931348623157e308, judged by its first 17
  /// digits. A number whose first 17 digits are the same as those of the greatest value still rounds to that value. So
  /// strtod does not overflow for a number for which this is false.
  private func isTooGreat(in text: [UInt8]) -> Bool {
    guard digits.count - 1 + exponent >= 308 else { return false }
    // The power of ten of the first significant digit, and up to 17 digits from there.
    var power = digits.count - 1
    var significant: [UInt8] = []
    for part in [digits, fraction] {
      for digit in text[part] {
        if significant.isEmpty && digit == UInt8(ascii: "0") {
          power -= 1
        } else if significant.count < 17 {
          significant.append(digit)
        } else {
          break
        }
      }
    }
    guard !significant.isEmpty else { return false }
    power += exponent
    guard power >= 308 else { return false }
    return power > 308 || "17976931348623157".utf8.lexicographicallyPrecedes(significant)
  }
}
