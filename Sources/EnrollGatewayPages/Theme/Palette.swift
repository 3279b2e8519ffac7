// The colours of pages, each a CSS variable. Every text stays readable, whatever the operator changes: one table has
// all pairs of colours that meet on a page, with the contrast that WCAG 2.2 requires (1.4.3, 1.4.11).

/// The use of a colour. The raw value is the key in a theme; ``variable`` is the CSS variable.
public enum ColourRole: String, Sendable, CaseIterable {
  /// The background behind the card.
  case page
  case card
  case text
  /// Less important text.
  case mutedText = "soft"
  /// Decorative lines.
  case line
  /// Borders of controls.
  case edge
  /// Links, main buttons, focus outlines.
  case accent
  /// Text on the accent colour. Computed if it is not given.
  case onAccent
  /// The accent colour under the pointer. Computed if it is not given.
  case accentHover
  /// The background of notices and of elements under the pointer. Computed if it is not given.
  case highlight = "note"
  /// The sign of a failure.
  case error = "bad"
  /// The background of that sign.
  case errorBackground = "badPage"

  /// `--on-accent`
  public var variable: String {
    switch self {
    case .onAccent: "--on-accent"
    case .accentHover: "--accent-hover"
    case .errorBackground: "--bad-page"
    default: "--" + rawValue
    }
  }
}

/// A colour for every role, for the light or the dark scheme.
struct Palette: Sendable, Equatable {
  private var colours: [ColourRole: Colour]

  subscript(role: ColourRole) -> Colour { colours[role] ?? .ink }

  static let light = Palette(
    colours: [
      .page: Colour(red: 0xF3, green: 0xF1, blue: 0xEC), .card: .white,
      .text: Colour(red: 0x1C, green: 0x1B, blue: 0x19),
      .mutedText: Colour(red: 0x59, green: 0x55, blue: 0x4E),
      .line: Colour(red: 0xE3, green: 0xDF, blue: 0xD7), .edge: Colour(red: 0x80, green: 0x7A, blue: 0x70),
      .accent: Colour(red: 0x0B, green: 0x5D, blue: 0x53), .onAccent: .white,
      .accentHover: Colour(red: 0x08, green: 0x47, blue: 0x40),
      .highlight: Colour(red: 0xE9, green: 0xF2, blue: 0xF0),
      .error: Colour(red: 0x9C, green: 0x2A, blue: 0x12),
      .errorBackground: Colour(red: 0xFB, green: 0xE9, blue: 0xE3),
    ])

  static let dark = Palette(
    colours: [
      .page: Colour(red: 0x12, green: 0x14, blue: 0x13), .card: Colour(red: 0x1B, green: 0x1E, blue: 0x1D),
      .text: Colour(red: 0xEE, green: 0xEC, blue: 0xE7),
      .mutedText: Colour(red: 0xB7, green: 0xB4, blue: 0xAC),
      .line: Colour(red: 0x34, green: 0x38, blue: 0x36), .edge: Colour(red: 0x85, green: 0x8B, blue: 0x88),
      .accent: Colour(red: 0x82, green: 0xD3, blue: 0xC3),
      .onAccent: Colour(red: 0x07, green: 0x22, blue: 0x1E),
      .accentHover: Colour(red: 0xA6, green: 0xE2, blue: 0xD6),
      .highlight: Colour(red: 0x24, green: 0x2F, blue: 0x2D),
      .error: Colour(red: 0xFF, green: 0xB4, blue: 0xA4),
      .errorBackground: Colour(red: 0x3D, green: 0x22, blue: 0x1B),
    ])

  /// The palette with the operator's colours; dependent colours that are not given are computed.
  func changed(_ given: [ColourRole: Colour]) -> Palette {
    var palette = self
    for (role, colour) in given { palette.colours[role] = colour }
    let accent = palette[.accent]
    if given[.accent] != nil, given[.onAccent] == nil {
      let prefersWhite = accent.contrast(against: .white) >= accent.contrast(against: .ink)
      palette.colours[.onAccent] = prefersWhite ? .white : .ink
    }
    if given[.accent] != nil || given[.onAccent] != nil, given[.accentHover] == nil {
      // Change the colour away from the colour of the text on it, so that the contrast can only grow.
      let isDark = accent.luminance <= palette[.onAccent].luminance
      let black = Colour(red: 0, green: 0, blue: 0)
      palette.colours[.accentHover] = accent.mixed(with: isDark ? black : .white, hundredths: 22)
    }
    if given[.accent] != nil || given[.card] != nil, given[.highlight] == nil {
      palette.colours[.highlight] = palette[.card].mixed(with: accent, hundredths: 9)
    }
    return palette
  }

  /// The colour, made lighter or darker until it is readable on this palette's card. A dark scheme's accent is derived
  /// from the light accent in this way.
  func readable(_ colour: Colour) -> Colour {
    let goal: Colour = self[.card].luminance < 0.18 ? .white : .ink
    for hundredths in stride(from: 0, to: 100, by: 5) {
      let candidate = colour.mixed(with: goal, hundredths: hundredths)
      if candidate.contrast(against: self[.card]) >= 6 { return candidate }
    }
    return goal
  }

  /// The pairs of colours that meet on a page, with the lowest allowed contrast.
  static let pairs: [(front: ColourRole, back: ColourRole, least: Double)] = [
    (.text, .card, 4.5), (.text, .page, 4.5), (.text, .highlight, 4.5), (.mutedText, .card, 4.5),
    (.mutedText, .page, 4.5),
    (.accent, .card, 4.5), (.onAccent, .accent, 4.5), (.onAccent, .accentHover, 4.5),
    (.error, .errorBackground, 4.5),
    (.edge, .card, 3), (.accent, .page, 3),
  ]

  /// The first pair with too little contrast; nil if every pair is readable.
  func unreadablePair() -> (front: ColourRole, back: ColourRole, least: Double)? {
    Self.pairs.first { self[$0.front].contrast(against: self[$0.back]) < $0.least }
  }
}
