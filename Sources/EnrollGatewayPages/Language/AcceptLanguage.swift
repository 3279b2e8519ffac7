// The header Accept-Language (RFC 9110 §12.5.4), and the choice among the available languages (RFC 4647 §3.4, lookup). A
// malformed header is ignored: the page is then in the default language.

/// The languages that a browser prefers.
struct AcceptLanguage: Sendable {
  /// A language range with its weight.
  struct Range: Sendable, Equatable {
    /// The language; nil for `*`, which means any other language.
    var tag: LanguageTag?
    /// The weight in thousandths, from 0 (not acceptable) to 1000 (best).
    var weight: Int
  }

  /// The ranges, sorted by descending weight. Ranges of equal weight have the order of the header.
  let ranges: [Range]

  /// The limit of the header in bytes; browsers send fewer than 200.
  static let longest = 1024

  /// Parses the header.
  /// - Returns: nil for a malformed header.
  init?(_ header: String) {
    let bytes = Array(header.utf8)
    guard bytes.count <= Self.longest else { return nil }
    var ranges: [Range] = []
    for element in bytes.split(separator: UInt8(ascii: ",")) {
      let element = Self.trimmed(element)
      // Empty elements are ignored (RFC 9110 §5.6.1.2).
      if element.isEmpty { continue }
      guard let range = Self.range(element) else { return nil }
      ranges.append(range)
    }
    self.ranges = ranges.enumerated().sorted { one, other in
      (other.element.weight, one.offset) < (one.element.weight, other.offset)
    }.map(\.element)
  }

  /// The best of these languages for the header; nil if the header accepts none of them.
  /// - Parameter languages: not empty. For `*` the first language is chosen.
  func choice(among languages: [Language]) -> Language? {
    let allowed = languages.filter { !isRefused($0.tag) }
    for range in ranges where range.weight > 0 {
      guard let tag = range.tag else {
        let unnamed = allowed.first { language in
          !ranges.contains { $0.tag.map { $0.isPrefix(of: language.tag) } ?? false }
        }
        if let unnamed { return unnamed }
        continue
      }
      if let language = Self.lookUp(tag, among: allowed) { return language }
    }
    return nil
  }

  /// The language with this tag; otherwise a less specific language (`de` for `de-AT`); otherwise a more
  /// specific language (`pt-BR` for `pt`).
  static func lookUp(_ tag: LanguageTag, among languages: [Language]) -> Language? {
    var wider: LanguageTag? = tag
    while let wanted = wider {
      if let language = languages.first(where: { $0.tag == wanted }) { return language }
      wider = wanted.shorter
    }
    return languages.first { tag.isPrefix(of: $0.tag) }
  }

  /// Whether a range of weight 0 excludes the language. A range with exactly the language's tag and a higher weight
  /// overrides that.
  private func isRefused(_ tag: LanguageTag) -> Bool {
    let isWanted = ranges.contains { $0.tag == tag && $0.weight > 0 }
    return !isWanted && ranges.contains { $0.weight == 0 && $0.tag?.isPrefix(of: tag) ?? false }
  }

  /// Parses one element: `language-range [ OWS ";" OWS "q=" qvalue ]`
  private static func range(_ element: ArraySlice<UInt8>) -> Range? {
    let parts = element.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard parts.count <= 2 else { return nil }
    var weight = 1000
    if parts.count == 2 {
      guard let given = Self.weight(Array(trimmed(parts[1]))) else { return nil }
      weight = given
    }
    let range = trimmed(parts[0])
    if range.elementsEqual([UInt8(ascii: "*")]) { return Range(tag: nil, weight: weight) }
    guard let tag = LanguageTag(range) else { return nil }
    return Range(tag: tag, weight: weight)
  }

  /// Parses a weight such as `q=0`, `q=0.8` or `q=1.000`: at most three decimal digits, and only zeros after a 1 (RFC
  /// 9110 §12.4.2).
  private static func weight(_ parameter: [UInt8]) -> Int? {
    let digit = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard (3...7).contains(parameter.count), parameter[0] | 0x20 == UInt8(ascii: "q"),
      parameter[1] == UInt8(ascii: "="),
      parameter[2] == digit.lowerBound || parameter[2] == digit.lowerBound + 1
    else { return nil }
    var weight = Int(parameter[2] - digit.lowerBound) * 1000
    guard parameter.count > 3 else { return weight }
    guard parameter[3] == UInt8(ascii: ".") else { return nil }
    var unit = 100
    for byte in parameter[4...] {
      guard digit.contains(byte) else { return nil }
      weight += Int(byte - digit.lowerBound) * unit
      unit /= 10
    }
    return weight <= 1000 ? weight : nil
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    guard let first = text.firstIndex(where: { !isSpace($0) }),
      let last = text.lastIndex(where: { !isSpace($0) })
    else { return [] }
    return text[first...last]
  }
}
