// The page that the browser shows after a loopback redirect, with the app's own texts. It is the only page of EnrollKit
// that users see. It contains nothing from the request.

/// The content of the return page. Every member has a default.
public struct ReturnPage: Equatable, Sendable {
  /// The app's name at the top of the page; nil for no name.
  public var appName: String?
  /// The app's logo, above its name: an image as a `data:` URL in base64 (RFC 2397); nil for no logo.
  public var logo: String?
  /// An additional line of text; nil for no such line.
  public var text: String?
  /// The language of the texts that EnrollKit writes on the page.
  public var language: Language
  /// `#rrggbb`, the colour of the line above the page; nil for the browser's own colour.
  public var color: String?
  /// `#rrggbb`, the colour of the background; nil for the browser's own colour, light or dark.
  public var backgroundColor: String?
  /// A link back to the app; nil for no link.
  public var link: String?

  public init(
    appName: String? = nil, logo: String? = nil, text: String? = nil, language: Language = .english,
    color: String? = nil, backgroundColor: String? = nil, link: String? = nil
  ) {
    self.appName = appName
    self.logo = logo
    self.text = text
    self.language = language
    self.color = color
    self.backgroundColor = backgroundColor
    self.link = link
  }

  /// The languages of the page's texts, by their tags (RFC 5646).
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

  /// The image types that a logo may have.
  public static let logoKinds = ["png", "jpeg", "webp", "svg+xml"]
  /// The maximum length of a logo's URL in bytes.
  public static let longestLogo = 65_536

  /// Whether the text is a `data:` URL of an image of one of the types in ``logoKinds``, and nothing else.
  public static func isLogo(_ text: String) -> Bool {
    guard text.utf8.count <= longestLogo,
      let start = logoKinds.map({ "data:image/\($0);base64," }).first(where: {
        text.utf8.starts(with: $0.utf8)
      })
    else { return false }
    let picture = text.utf8.dropFirst(start.utf8.count)
    let signs = picture.prefix { byte in
      ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
    }
    let padding = picture.dropFirst(signs.count)
    return !signs.isEmpty && picture.count % 4 == 0 && padding.count <= 2
      && padding.allSatisfy { $0 == UInt8(ascii: "=") }
  }

  /// The red, green and blue bytes of `#rrggbb`; nil for another text.
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
