// How long a server asks the client to wait (RFC 9110 §10.2.3), up to a limit (R33). Some servers use `X-Retry-After`
// (better-auth).

public enum RetryAfter {
  /// The longest pause that a server can ask for.
  public static let maximumSeconds: Int64 = 3600

  /// The seconds, 1 to ``maximumSeconds``; nil if the server sends no time, or an unreadable time. A date is compared
  /// with the response's Date, so that this machine's clock does not matter. If the response has no Date, the date is
  /// compared with this machine's clock.
  public static func seconds(of response: HTTPResponse) -> Int64? {
    guard let text = response.header("Retry-After") ?? response.header("X-Retry-After") else { return nil }
    if !text.utf8.isEmpty, text.utf8.allSatisfy({ ASCII.isDigit($0) }) {
      // A number with more digits than the parser accepts counts as the longest pause.
      let seconds = DecimalText.parse(text) ?? maximumSeconds
      return seconds > 0 ? min(seconds, maximumSeconds) : nil
    }
    guard let until = HTTPDate.parse(text),
      let now = response.header("Date").flatMap({ HTTPDate.parse($0) }) ?? response.received
    else { return nil }
    let seconds = until.since(now)
    return seconds > 0 ? min(seconds, maximumSeconds) : nil
  }

  /// The end of an error text: `; the server asks to wait 40 s`. Empty if the server does not ask the client to wait.
  package static func words(of response: HTTPResponse) -> String {
    seconds(of: response).map { "; the server asks to wait \($0) s" } ?? ""
  }
}
