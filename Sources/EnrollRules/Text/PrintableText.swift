// Makes texts from outside safe for an error text: bounded, and without bytes that control a terminal or a log.

public enum PrintableText {
  /// `text` with `?` for every byte that is not printable ASCII, cut after `maximumBytes`.
  public static func bounded(_ text: String, maximumBytes: Int) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      guard bytes.count < maximumBytes else {
        bytes.append(contentsOf: "...".utf8)
        break
      }
      bytes.append(byte >= 0x20 && byte < 0x7F ? byte : 0x3F)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// An OAuth error code (RFC 6749 §5.2: printable ASCII without quote and backslash) of at most 64 bytes; nil for any
  /// other text. A space is not accepted, although the grammar allows it: no registered code has a space, but the
  /// texts of proxies do (`Not Found`).
  public static func errorCode(_ text: String) -> String? {
    let isCode = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
    return isCode && (1...64).contains(text.utf8.count) ? text : nil
  }

  /// Whether an error code looks like a registered code: at most 48 bytes, words of at most 16 letters and digits
  /// between `_`, `-` and `.`, and at most four digits. A token, or a part of a token, rarely looks like that.
  public static func isUsualErrorCode(_ code: String) -> Bool {
    guard code.utf8.count <= 48 else { return false }
    var (length, digits) = (0, 0)
    for byte in code.utf8 {
      length += 1
      switch byte {
      case 0x5F, 0x2D, 0x2E: length = 0
      case 0x30...0x39: digits += 1
      case 0x41...0x5A, 0x61...0x7A: break
      default: return false
      }
      if length > 16 || digits > 4 { return false }
    }
    return true
  }
}
