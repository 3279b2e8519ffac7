// How long a document may be used without a request (RFC 9111 §4.2). Only for discovery documents and keys.

public enum CacheControl {
  /// The shortest time for which a document is used, even for a document that must not be cached, because one sign-in
  /// needs the document several times.
  public static let minimumSeconds: Int64 = 60
  /// The longest time: a day.
  public static let maximumSeconds: Int64 = 86_400
  /// The time for which a document is used if the server's headers do not say how long it stays fresh.
  public static let defaultSeconds: Int64 = 3600

  /// How long a process may use the response: ``minimumSeconds`` to ``maximumSeconds``.
  public static func freshSeconds(of response: HTTPResponse) -> Int64 {
    max(keptSeconds(of: response), minimumSeconds)
  }

  /// The remaining freshness of the response by its headers, at most ``maximumSeconds``: how long another process may
  /// use it without a request.
  public static func keptSeconds(of response: HTTPResponse) -> Int64 {
    var lifetime: Int64?
    for header in response.headers where ASCII.equalsIgnoringCase(header.name, "Cache-Control") {
      for directive in header.value.utf8.split(separator: 0x2C) {
        let text = String(decoding: trimmed(directive), as: UTF8.self)
        if ASCII.equalsIgnoringCase(text, "no-store") || ASCII.equalsIgnoringCase(text, "no-cache") {
          return 0
        }
        if ASCII.equalsIgnoringCase(String(decoding: text.utf8.prefix(8), as: UTF8.self), "max-age=") {
          let digits = String(decoding: text.utf8.dropFirst(8), as: UTF8.self)
          // An unreadable lifetime counts as zero.
          lifetime = min(lifetime ?? .max, DecimalText.parse(digits) ?? 0)
        }
      }
    }
    guard let lifetime else { return defaultSeconds }
    let age = response.ageSeconds ?? 0
    return lifetime > age ? min(lifetime - age, maximumSeconds) : 0
  }

  private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var text = text
    while let first = text.first, first == 0x20 || first == 0x09 { text = text.dropFirst() }
    while let last = text.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
    return text
  }
}
