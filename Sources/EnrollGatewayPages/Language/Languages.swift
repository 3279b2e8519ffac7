// The languages of the pages: English and German, with the operator's changes and additions. A page is in the language
// that an explicit setting names; without a setting, in the language that the browser prefers; otherwise, in the
// default language.

/// The catalogues, one for each language.
public struct Languages: Sendable {
  /// The catalogues, the default first. There is at least one.
  private var catalogues: [Catalogue]

  /// English and German; English is the default.
  /// - Throws: ``CatalogueError`` if the program's own texts are damaged, which a correct build rules out.
  public init() throws(CatalogueError) {
    let english = try Catalogue(json: PackageResources.en_json)
    let german = try Catalogue(json: PackageResources.de_json)
    catalogues = [english, german]
  }

  /// All languages, the default first.
  public var all: [Language] { catalogues.map(\.language) }

  /// The default language, for a browser that asks for no other available language.
  public var standard: Language { catalogues[0].language }

  /// Reads the operator's file: changed texts of an existing language, or an additional language with all texts.
  /// - Parameter json: in the form of `Texts/en.json`; for an existing language it may be incomplete.
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

  /// Chooses the language of a page.
  /// - Parameters:
  ///   - explicit: tags in the order of preference, separated by spaces, as in `ui_locales` (OpenID Connect Core §3.1.2.1),
  ///     from a query, a cookie or a setting. Malformed and unknown tags are ignored.
  ///   - acceptLanguage: the header (RFC 9110 §12.5.4); several headers are joined with commas.
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

  /// The texts of a language. If the language is unknown, the texts of the default language.
  func catalogue(of language: Language) -> Catalogue {
    catalogues.first { $0.language.tag == language.tag } ?? catalogues[0]
  }
}
