// The id of the request that a thread answers: each line of the log has it, each entry of the audit, and each page of a failure, so that
// what a person reads out leads to what happened. The gateway makes it; one that a client or a load balancer sends is not read.

/// 64 random bits in 13 letters and digits. It names a request, and opens nothing.
public enum RequestID {
  /// That of the request that this thread answers; nil outside of one.
  @TaskLocal public static var current: String?

  static func make() -> String {
    var rest = UInt64.random(in: .min ... .max)
    var text = ""
    for _ in 0..<13 {
      // Base 32 without the letters that are taken for digits (Crockford).
      text.unicodeScalars.append(Unicode.Scalar(alphabet[Int(rest & 31)]))
      rest >>= 5
    }
    return text
  }

  private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
}
