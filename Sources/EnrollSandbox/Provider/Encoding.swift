// Text encodings of bytes and times that the provider sends.

import Foundation

enum Encoding {
  /// Base64url without padding (RFC 4648 §5).
  static func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }

  /// The bytes of a base64url text; nil for any other text.
  static func bytes(base64URL text: Substring) -> [UInt8]? {
    guard !text.contains(where: { "+/=".contains($0) }) else { return nil }
    let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
    return Data(base64Encoded: standard + padding).map(Array.init)
  }

  /// The client's id and secret in the header `Authorization` (RFC 6749 §2.3.1); nil if the header does not contain
  /// them.
  static func basicCredentials(_ header: String) -> (String, String)? {
    guard header.hasPrefix("Basic "), let bytes = Data(base64Encoded: String(header.dropFirst(6))) else {
      return nil
    }
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", omittingEmptySubsequences: false)
      .map { $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? "" }
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }

  /// An identifier with 256 random bits.
  static func randomToken() -> String {
    var generator = SystemRandomNumberGenerator()
    return base64URL((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// A date in the form `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
  static func httpDate(_ seconds: Int64) -> String {
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let part = calendar.dateComponents(
      [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: Double(seconds)))
    func two(_ value: Int?) -> String { (value ?? 0) < 10 ? "0\(value ?? 0)" : "\(value ?? 0)" }
    let dayNumber = Int((seconds >= 0 ? seconds : seconds - 86399) / 86400 % 7 + 7) % 7
    return "\(days[dayNumber]), \(two(part.day)) \(months[((part.month ?? 1) - 1) % 12]) "
      + "\(part.year ?? 1970) \(two(part.hour)):\(two(part.minute)):\(two(part.second)) GMT"
  }
}
