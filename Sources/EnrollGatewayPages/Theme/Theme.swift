// The operator's changes to the pages: name, logo, colours, corners, links. Everything is checked at the start of the program;
// the error for an unreadable colour has both colours and their contrast.

/// The look of every page.
public struct Theme: Sendable {
  /// A picture at the top of every page; the gateway's origin serves the file.
  public struct Logo: Sendable, Equatable {
    public var path: PageLink
    /// The picture for dark pages; nil if dark pages have the same picture.
    public var darkPath: PageLink?
    /// True if the picture shows the product's name, so that the name is not written next to the picture.
    public var containsName: Bool

    public init(path: PageLink, darkPath: PageLink? = nil, containsName: Bool = false) {
      self.path = path
      self.darkPath = darkPath
      self.containsName = containsName
    }
  }

  /// The links in the footer of every page.
  public struct Links: Sendable, Equatable {
    public var help: PageLink?
    public var privacy: PageLink?
    public var terms: PageLink?
    public var imprint: PageLink?

    public init(
      help: PageLink? = nil, privacy: PageLink? = nil, terms: PageLink? = nil, imprint: PageLink? = nil
    ) {
      self.help = help
      self.privacy = privacy
      self.terms = terms
      self.imprint = imprint
    }
  }

  /// The name of the product that users sign in to.
  public let product: String
  public let logo: Logo?
  public let links: Links
  let light: Palette
  let dark: Palette
  /// The corner radius of cards and controls, in pixels.
  let radius: Int

  /// Makes a theme, and checks its colours.
  /// - Parameters:
  ///   - product: the name of the product, 1 to 60 bytes.
  ///   - light, dark: the colours to change. If only the light accent is given, the dark accent is derived from it.
  ///   - radius: the corner radius, 0 to 24 pixels.
  /// - Throws: ``ThemeError``.
  public init(
    product: String, logo: Logo? = nil, links: Links = Links(), light: [ColourRole: Colour] = [:],
    dark: [ColourRole: Colour] = [:], radius: Int = 14
  ) throws(ThemeError) {
    guard !product.isEmpty, product.utf8.count <= 60, product.utf8.allSatisfy({ $0 >= 0x20 }) else {
      throw .malformed("product", expected: "a name of 1 to 60 bytes")
    }
    guard (0...24).contains(radius) else { throw .malformed("radius", expected: "0 to 24 pixels") }
    self.product = product
    self.logo = logo
    self.links = links
    self.radius = radius
    self.light = Palette.light.changed(light)
    var darkChanges = dark
    if let accent = light[.accent], dark[.accent] == nil {
      darkChanges[.accent] = Palette.dark.changed(dark).readable(accent)
    }
    self.dark = Palette.dark.changed(darkChanges)
    for (scheme, palette) in [("light", self.light), ("dark", self.dark)] {
      guard let pair = palette.unreadablePair() else { continue }
      throw .contrast(
        scheme: scheme, front: pair.front, palette[pair.front], back: pair.back, palette[pair.back],
        least: pair.least)
    }
  }
}

/// Why a theme is refused.
public enum ThemeError: Error, Sendable, Equatable {
  case unknownKey(String)
  case malformed(String, expected: String)
  /// Two colours that are next to each other on a page have too little contrast.
  case contrast(
    scheme: String, front: ColourRole, Colour, back: ColourRole, Colour, least: Double)

  public var message: String {
    switch self {
    case .unknownKey(let key): "A theme has no \(key). Check its spelling, or remove it."
    case .malformed(let key, let expected): "The theme's \(key) is malformed. Expected \(expected)."
    case .contrast(let scheme, let front, let one, let back, let two, let least):
      "In the \(scheme) colours, \(front.rawValue) \(one.text) on \(back.rawValue) \(two.text) has a contrast of "
        + "\(Self.rounded(one.contrast(against: two))):1. Pages need \(Self.rounded(least)):1 (WCAG 2.2). "
        + "Choose another \(front.rawValue), or another \(back.rawValue)."
    }
  }

  /// The ratio with one decimal digit, never rounded up: 4.49 must not be shown as 4.5.
  private static func rounded(_ ratio: Double) -> String {
    let tenths = Int(ratio * 10)
    return "\(tenths / 10).\(tenths % 10)"
  }
}
