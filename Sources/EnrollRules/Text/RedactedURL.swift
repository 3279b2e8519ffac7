// Shows URLs without the parts that may be secret, so that nobody who reads a URL can use it (R40).

import EnrollJSON

public enum RedactedURL {
  /// The URL's scheme, host, port and names of parameters, for logs; "?" for a text that is not a URL.
  public static func text(_ url: String) -> String { shown(url) { $0.path.lowerBound } }

  /// Like ``text(_:)``, but as JSON. Use this for a URL that a host configured: any part of such a URL, except the
  /// origin, may contain a secret.
  static func bounded(_ text: String) -> JSON { .string(Self.text(text)) }

  /// Like ``bounded(_:)``, but with the path: for URLs that providers publish and clients register.
  static func published(_ text: String) -> JSON { .string(publishedText(text)) }

  /// Like ``published(_:)``, but as text, for an error.
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
