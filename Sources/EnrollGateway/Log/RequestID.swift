// The id of a request. Each line of the log, each audit entry and each failure page contains the id, so that the lines
// of a request can be found by the id that a user reports. The gateway generates the id; an id from a client or load
// balancer is ignored.

/// 64 random bits as 13 letters and digits. The id is not a secret.
public enum RequestID {
  /// The id of the request that this task answers; nil outside of a request.
  @TaskLocal public static var current: String?

  static func make() -> String {
    var rest = UInt64.random(in: .min ... .max)
    var text = ""
    for _ in 0..<13 {
      // Base 32 without letters that look like digits (Crockford).
      text.unicodeScalars.append(Unicode.Scalar(alphabet[Int(rest & 31)]))
      rest >>= 5
    }
    return text
  }

  private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
}
