// `fromURI`: the URL to which the browser has to return from the gateway, so that the issuer's authorization request
// continues. Accepted: the issuer's authorization endpoint or a configured URL, compared byte for byte up to the
// query. Refused: every other URL (RFC 9700 §4.11). The URL is passed on in sealed form, and no page shows it.

import EnrollRules

/// A URL of the configured issuer to which a browser may be sent back.
struct FromURI: Equatable {
  let text: String

  /// The maximum length in bytes. It is small because the URL is stored in a cookie, together with other values.
  static let longest = 1500

  /// Parses the URL; nil unless the URL without its query is one of the allowed URLs.
  init?(_ text: String, allowed: [StrictURL]) {
    guard text.utf8.count <= Self.longest, let url = try? StrictURL(text), !url.hadFragment,
      allowed.contains(where: { url.hasSameBase(as: $0) })
    else { return nil }
    self.text = text
  }
}
