// Who gives tokens, and to whom.

/// Names a provider: the URL that it calls itself by (RFC 8414 §2), a slash at its end included.
public struct Issuer: ExactText {
  public let text: String

  public init(_ text: String) { self.text = text }

  /// The URL of `path`, which begins with a slash, below the issuer: a slash at its end is not doubled.
  func url(ofPath path: String) -> String {
    (text.utf8.last == UInt8(ascii: "/") ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text)
      + path
  }
}

/// Names an app to its provider (RFC 6749 §2.2).
public struct ClientID: ExactText {
  public let text: String

  public init(_ text: String) { self.text = text }
}
