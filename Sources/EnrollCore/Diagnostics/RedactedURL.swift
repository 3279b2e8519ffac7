// URLs as they may be shown to somebody who was not meant to use them (R40).

import EnrollJSON

public enum RedactedURL {
  /// Scheme, host, port and the names of parameters, "?" for what is no URL: for logs.
  public static func text(_ url: String) -> String { shown(url) { $0.path.lowerBound } }

  /// The same as JSON: what a host configured may have a secret anywhere else.
  static func bounded(_ text: String) -> JSON { .string(Self.text(text)) }

  /// The path as well: for what providers publish and clients register.
  static func published(_ text: String) -> JSON { .string(publishedText(text)) }

  /// The same for an error text.
  static func publishedText(_ text: String) -> String { shown(text, configured: text) { $0.path.upperBound } }

  private static func shown(_ text: String, configured: String? = nil, _ end: (StrictURL) -> Int) -> String {
    guard let url = try? StrictURL(text, configured: configured) else { return "?" }
    var shown = url.text(0..<end(url))
    if let query = url.query {
      let names = QueryParameter.names(of: url.bytes, query)
      for (index, name) in names.enumerated() {
        shown += (index == 0 ? "?" : "&") + PrintableText.bounded(name, maximumBytes: 64)
      }
    }
    return shown
  }
}
