// `fromURI`: where the issuer's sign-in page wants the browser back, so that the authorize request which waits there goes on. Taken: the issuer's
// own authorize address, byte for byte up to its query. Refused: every other address, whatever it looks like (RFC 9700 §4.11). It is carried
// sealed, and no page shows it.

import EnrollCore

/// An address of the configured issuer to which a browser may be sent back.
struct FromURI: Equatable {
  let text: String

  /// It travels in a cookie, beside other things.
  static let longest = 1500

  /// nil for every address that is not one of these up to its query.
  init?(_ text: String, allowed: [StrictURL]) {
    guard text.utf8.count <= Self.longest, let url = try? StrictURL(text), !url.hadFragment,
      allowed.contains(where: { url.hasSameBase(as: $0) })
    else { return nil }
    self.text = text
  }
}
