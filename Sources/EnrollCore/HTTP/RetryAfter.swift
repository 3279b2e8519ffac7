// How long a server asks us to wait (RFC 9110 §10.2.3), capped (R33).

public enum RetryAfter {
  /// A server that asks for more is taken to have asked for this.
  public static let maximumSeconds: Int64 = 3600

  /// 1 to ``maximumSeconds``; nil when the server asks for nothing, or for something unreadable. A date counts from
  /// the server's own Date, so that our clock does not matter; without that, from this machine's clock.
  public static func seconds(of response: HTTPResponse) -> Int64? {
    guard let text = response.header("Retry-After") else { return nil }
    if !text.utf8.isEmpty, text.utf8.allSatisfy({ ASCII.isDigit($0) }) {
      // More digits than are read are an absurd time, too.
      let seconds = DecimalText.parse(text) ?? maximumSeconds
      return seconds > 0 ? min(seconds, maximumSeconds) : nil
    }
    guard let until = HTTPDate.parse(text),
      let now = response.header("Date").flatMap({ HTTPDate.parse($0) }) ?? response.received
    else { return nil }
    let seconds = until.since(now)
    return seconds > 0 ? min(seconds, maximumSeconds) : nil
  }
}
