// The page that a loopback redirect leaves in the browser, the only one of ours that users see: what the app says of itself
// there. Nothing in it comes with a request.

/// How that page looks. Everything has a default.
public struct ReturnPage: Equatable, Sendable {
  /// Above the rest; nil for none.
  public var appName: String?
  /// A line of the app's own; nil for none.
  public var text: String?
  /// The language of the page's own words.
  public var language: Language
  /// `#rrggbb`, for the line above the page; nil for the browser's own.
  public var color: String?
  /// `#rrggbb`; nil for the browser's own, light or dark as the user has it.
  public var backgroundColor: String?
  /// Leads back into the app; nil for none.
  public var link: String?

  public init(
    appName: String? = nil, text: String? = nil, language: Language = .english, color: String? = nil,
    backgroundColor: String? = nil, link: String? = nil
  ) {
    self.appName = appName
    self.text = text
    self.language = language
    self.color = color
    self.backgroundColor = backgroundColor
    self.link = link
  }

  /// Languages that the page's words are there in, by their tags (RFC 5646).
  public enum Language: String, Sendable, CaseIterable {
    /// English.
    case english = "en"
    /// German.
    case german = "de"
    /// French.
    case french = "fr"
    /// Spanish.
    case spanish = "es"
    /// Italian.
    case italian = "it"
    /// Dutch.
    case dutch = "nl"
    /// Portuguese.
    case portuguese = "pt"
  }

  /// Red, green and blue of `#rrggbb`; nil for another text.
  public static func channels(of color: String) -> [UInt8]? {
    let bytes = Array(color.utf8)
    guard bytes.count == 7, bytes[0] == 0x23 else { return nil }
    var channels: [UInt8] = []
    for index in [1, 3, 5] {
      guard let high = PercentEncoding.hexValue(bytes[index]),
        let low = PercentEncoding.hexValue(bytes[index + 1])
      else { return nil }
      channels.append(high << 4 | low)
    }
    return channels
  }
}
