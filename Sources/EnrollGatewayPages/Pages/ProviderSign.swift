// The small sign beside a provider's name: a picture that the operator serves, or the name's first letter on a tile, in a
// colour that users know from the provider. Screen readers skip it, because it repeats the name.

/// The sign of a provider.
public enum ProviderSign: Sendable, Equatable {
  /// A file of the gateway: the provider's own logo, if the provider's rules allow that.
  case picture(PageLink)
  /// The first letter, in the provider's colour.
  case brand(Brand)
  /// The first letter.
  case initial

  /// A provider with a well-known colour.
  public enum Brand: String, Sendable, CaseIterable {
    case apple, facebook, github, gitlab, google, keycloak, linkedin, microsoft

    var classes: StaticString {
      switch self {
      case .apple: "tile apple"
      case .facebook: "tile facebook"
      case .github: "tile github"
      case .gitlab: "tile gitlab"
      case .google: "tile google"
      case .keycloak: "tile keycloak"
      case .linkedin: "tile linkedin"
      case .microsoft: "tile microsoft"
      }
    }
  }

  /// The sign of the provider with this name at the gateway, such as `google`; the first letter for an unknown name.
  public init(named name: String) {
    self = Brand(rawValue: name).map(ProviderSign.brand) ?? .initial
  }
}

extension HTML {
  mutating func sign(_ sign: ProviderSign, of label: String) {
    switch sign {
    case .picture(let link):
      element(.span, .class("tile picture"), .hidden) { $0.void(.img, .src(link), .decorative) }
    case .brand(let brand):
      element(.span, .class(brand.classes), .hidden, text: Self.initial(of: label))
    case .initial:
      element(.span, .class("tile"), .hidden, text: Self.initial(of: label))
    }
  }

  private static func initial(of label: String) -> String {
    if let byte = label.utf8.first, LanguageTag.isLetter(byte) { return String(UnicodeScalar(byte & 0xDF)) }
    let letter = label.first { $0.isLetter || $0.isNumber }
    return letter.map { String($0).uppercased() } ?? "•"
  }
}
