// URLs as they may be shown to somebody who was not meant to use them (R40).

import EnrollJSON

enum ShownURL {
  /// Scheme, host, port and the names of parameters: what a host configured may have a secret anywhere else.
  static func bounded(_ text: String) -> JSON { shown(text) { $0.path.lowerBound } }

  /// The path as well: for what providers publish and clients register.
  static func published(_ text: String) -> JSON { shown(text) { $0.path.upperBound } }

  private static func shown(_ text: String, _ end: (StrictURL) -> Int) -> JSON {
    guard let url = try? StrictURL(text) else { return .string("?") }
    var shown = url.text(0..<end(url))
    if let query = url.query {
      let names = QueryParameter.names(of: url.bytes, query)
      for (index, name) in names.enumerated() {
        shown += (index == 0 ? "?" : "&") + PrintableText.bounded(name, maximumBytes: 64)
      }
    }
    return .string(shown)
  }
}
