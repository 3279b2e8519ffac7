// The colours of pages, each a CSS variable. Whatever a deployer changes, every text can be read: the pairs that meet on a page are
// in one table, with the contrast that WCAG 2.2 asks of them (1.4.3, 1.4.11).

/// What a colour is for. The name is the key in a theme; ``variable`` is the CSS variable.
public enum ColourRole: String, Sendable, CaseIterable {
  /// Behind the card.
  case page
  case card
  case text
  /// Less important text.
  case soft
  /// Lines that only decorate.
  case line
  /// The edges of controls.
  case edge
  /// Links, main buttons, the focus.
  case accent
  /// Text on the accent. Computed from it if it is not given.
  case onAccent
  /// The accent under the pointer. Computed if it is not given.
  case accentHover
  /// Behind notices and whatever is under the pointer. Computed if it is not given.
  case note
  /// The mark of a failure.
  case bad
  /// Behind that mark.
  case badPage

  /// `--on-accent`
  public var variable: String {
    switch self {
    case .onAccent: "--on-accent"
    case .accentHover: "--accent-hover"
    case .badPage: "--bad-page"
    default: "--" + rawValue
    }
  }
}

/// A colour for every role, in one colour scheme.
struct Palette: Sendable, Equatable {
  private var colours: [ColourRole: Colour]

  subscript(role: ColourRole) -> Colour { colours[role] ?? .ink }

  static let light = Palette(
    colours: [
      .page: Colour(red: 0xF3, green: 0xF1, blue: 0xEC), .card: .white,
      .text: Colour(red: 0x1C, green: 0x1B, blue: 0x19), .soft: Colour(red: 0x59, green: 0x55, blue: 0x4E),
      .line: Colour(red: 0xE3, green: 0xDF, blue: 0xD7), .edge: Colour(red: 0x80, green: 0x7A, blue: 0x70),
      .accent: Colour(red: 0x0B, green: 0x5D, blue: 0x53), .onAccent: .white,
      .accentHover: Colour(red: 0x08, green: 0x47, blue: 0x40),
      .note: Colour(red: 0xE9, green: 0xF2, blue: 0xF0),
      .bad: Colour(red: 0x9C, green: 0x2A, blue: 0x12), .badPage: Colour(red: 0xFB, green: 0xE9, blue: 0xE3),
    ])

  static let dark = Palette(
    colours: [
      .page: Colour(red: 0x12, green: 0x14, blue: 0x13), .card: Colour(red: 0x1B, green: 0x1E, blue: 0x1D),
      .text: Colour(red: 0xEE, green: 0xEC, blue: 0xE7), .soft: Colour(red: 0xB7, green: 0xB4, blue: 0xAC),
      .line: Colour(red: 0x34, green: 0x38, blue: 0x36), .edge: Colour(red: 0x85, green: 0x8B, blue: 0x88),
      .accent: Colour(red: 0x82, green: 0xD3, blue: 0xC3),
      .onAccent: Colour(red: 0x07, green: 0x22, blue: 0x1E),
      .accentHover: Colour(red: 0xA6, green: 0xE2, blue: 0xD6),
      .note: Colour(red: 0x24, green: 0x2F, blue: 0x2D),
      .bad: Colour(red: 0xFF, green: 0xB4, blue: 0xA4), .badPage: Colour(red: 0x3D, green: 0x22, blue: 0x1B),
    ])

  /// With a deployer's colours; what depends on them and is not given is computed.
  func changed(_ given: [ColourRole: Colour]) -> Palette {
    var palette = self
    for (role, colour) in given { palette.colours[role] = colour }
    let accent = palette[.accent]
    if given[.accent] != nil, given[.onAccent] == nil {
      let prefersWhite = accent.contrast(against: .white) >= accent.contrast(against: .ink)
      palette.colours[.onAccent] = prefersWhite ? .white : .ink
    }
    if given[.accent] != nil || given[.onAccent] != nil, given[.accentHover] == nil {
      // Away from the text on it, so that it can only be read better.
      let isDark = accent.luminance <= palette[.onAccent].luminance
      let black = Colour(red: 0, green: 0, blue: 0)
      palette.colours[.accentHover] = accent.mixed(with: isDark ? black : .white, hundredths: 22)
    }
    if given[.accent] != nil || given[.card] != nil, given[.note] == nil {
      palette.colours[.note] = palette[.card].mixed(with: accent, hundredths: 9)
    }
    return palette
  }

  /// The colour, made lighter or darker until it can be read on this palette's card: a dark scheme's accent from a light one's.
  func readable(_ colour: Colour) -> Colour {
    let goal: Colour = self[.card].luminance < 0.18 ? .white : .ink
    for hundredths in stride(from: 0, to: 100, by: 5) {
      let candidate = colour.mixed(with: goal, hundredths: hundredths)
      if candidate.contrast(against: self[.card]) >= 6 { return candidate }
    }
    return goal
  }

  /// What stands on what, and the least contrast.
  static let pairs: [(front: ColourRole, back: ColourRole, least: Double)] = [
    (.text, .card, 4.5), (.text, .page, 4.5), (.text, .note, 4.5), (.soft, .card, 4.5), (.soft, .page, 4.5),
    (.accent, .card, 4.5), (.onAccent, .accent, 4.5), (.onAccent, .accentHover, 4.5), (.bad, .badPage, 4.5),
    (.edge, .card, 3), (.accent, .page, 3),
  ]

  /// The first pair that cannot be read.
  func tooFaint() -> (front: ColourRole, back: ColourRole, least: Double)? {
    Self.pairs.first { self[$0.front].contrast(against: self[$0.back]) < $0.least }
  }
}
