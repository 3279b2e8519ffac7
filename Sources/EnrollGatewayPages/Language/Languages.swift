// The languages that pages come in: English and German, and what a deployer changes or adds. The choice: what was set explicitly,
// then what the browser asks for, then the default.

/// The catalogues, one for each language.
public struct Languages: Sendable {
  /// The default first; never empty.
  private var catalogues: [Catalogue]

  /// English and German; English is the default.
  /// - Throws: never for this program as it was built; ``CatalogueError`` would say which of its own texts is damaged.
  public init() throws(CatalogueError) {
    let english = try Catalogue(json: PackageResources.en_json)
    let german = try Catalogue(json: PackageResources.de_json)
    catalogues = [english, german]
  }

  /// Every language that there is, the default first.
  public var all: [Language] { catalogues.map(\.language) }

  /// The default: it answers a browser that asks for none of the others.
  public var standard: Language { catalogues[0].language }

  /// Reads a deployer's file: changed texts of a language that there is, or a further language with all its texts.
  /// - Parameter json: as `Texts/en.json`; it may be incomplete for a language that there is.
  /// - Throws: ``CatalogueError``, which names the key. Nothing is changed then.
  public mutating func add(json: [UInt8]) throws(CatalogueError) {
    let file = try CatalogueFile(json: json)
    if let place = catalogues.firstIndex(where: { $0.language.tag == file.tag }) {
      catalogues[place] = try Catalogue(file, over: catalogues[place])
    } else {
      catalogues.append(try Catalogue(file))
    }
  }

  /// Makes a language the default.
  /// - Throws: ``CatalogueError/unknownLanguage(_:known:)``.
  public mutating func setStandard(_ tag: String) throws(CatalogueError) {
    guard let wanted = LanguageTag(tag),
      let place = catalogues.firstIndex(where: { $0.language.tag == wanted })
    else {
      throw .unknownLanguage(tag, known: all.map(\.tag.text))
    }
    catalogues.insert(catalogues.remove(at: place), at: 0)
  }

  /// The language of a page.
  /// - Parameters:
  ///   - explicit: tags in the order of preference, with spaces between them, as `ui_locales` has them (OpenID Connect Core
  ///     §3.1.2.1): from a query, a cookie or a setting. Tags that are malformed or unknown are passed over.
  ///   - acceptLanguage: the header (RFC 9110 §12.5.4); several are joined by commas.
  public func choose(explicit: String? = nil, acceptLanguage: String? = nil) -> Language {
    let all = all
    if let explicit, explicit.utf8.count <= AcceptLanguage.longest {
      for text in Array(explicit.utf8).split(separator: UInt8(ascii: " ")) {
        guard let tag = LanguageTag(text) else { continue }
        if let language = AcceptLanguage.lookUp(tag, among: all) { return language }
      }
    }
    guard let acceptLanguage, let asked = AcceptLanguage(acceptLanguage) else { return standard }
    return asked.choice(among: all) ?? standard
  }

  /// The texts of a language; those of the default where there are none.
  func catalogue(of language: Language) -> Catalogue {
    catalogues.first { $0.language.tag == language.tag } ?? catalogues[0]
  }
}
