// A template of the links that are accepted: the text of the link in an e-mail, with a placeholder instead of the
// activation token (flows.md §3). Links are compared byte by byte (R9, R11). Refused: a token that is not a whole path
// segment or a whole query value.

/// A claimed https or custom-scheme link with one `{activationToken}`, such as
/// `https://app.example/welcome/{activationToken}`.
public struct LinkTemplate: Equatable, Sendable {
  /// Marks the place of the activation token in a template.
  public static let placeholder = "{activationToken}"

  /// The template as it was configured.
  public let text: String
  /// The text before the token.
  public let prefix: [UInt8]
  /// The text after the token, as bytes of UTF-8.
  public let suffix: [UInt8]

  /// - Throws: a ``Problem``, which describes the fault of the template in one sentence.
  public init(_ text: String) throws(Problem) { try self.init(text, mayBeLoopback: false) }

  /// - Parameter mayBeLoopback: whether the template may be an http URL to this device. This is for the page that a
  ///   template names during development. A received link is never such a URL.
  init(_ text: String, mayBeLoopback: Bool) throws(Problem) {
    let bytes = Array(text.utf8)
    let mark = Array(LinkTemplate.placeholder.utf8)
    let places = bytes.indices.filter { bytes[$0...].starts(with: mark) }
    guard let place = places.first, places.count == 1 else {
      throw Problem(
        text: "\(LinkTemplate.placeholder) must appear once, not \(places.count) times")
    }
    let prefix = Array(bytes[..<place])
    let suffix = Array(bytes[(place + mark.count)...])
    guard prefix.last == 0x2F || prefix.last == 0x3D, LinkTemplate.ends(suffix) else {
      throw Problem(text: "\(LinkTemplate.placeholder) must be a whole path segment or a whole query value")
    }
    let url: StrictURL
    do throws(StrictURL.Refusal) {
      url = try StrictURL(String(decoding: prefix + [0x78] + suffix, as: UTF8.self))
    } catch {
      throw Problem(text: error.text)
    }
    guard mayBeLoopback || url.kind != .loopbackHTTP, !url.hadFragment, place > url.path.lowerBound else {
      throw Problem(text: "it must be a claimed https or private-scheme link without a fragment")
    }
    self.text = text
    self.prefix = prefix
    self.suffix = suffix
  }

  /// The reason why a text is not a template.
  public struct Problem: Error, Equatable, Sendable {
    /// The expectation that failed.
    public var text: String
  }

  /// Whether a browser can open the link.
  var isPage: Bool { prefix.starts(with: "https:".utf8) || prefix.starts(with: "http:".utf8) }

  private static func ends(_ suffix: [UInt8]) -> Bool {
    guard let first = suffix.first else { return true }
    return first == 0x2F || first == 0x3F || first == 0x26
  }
}
