// A strict parser of pages, for tests: every element is closed in its order, every attribute is quoted and
// occurs once, and a page has only text, elements and the doctype. It is stricter than browsers, and shares
// no code with the pages.

/// One element of a page, with its contents.
struct Markup: Equatable {
  var name: String
  var attributes: [String: String]
  var children: [Node]

  enum Node: Equatable {
    case element(Markup)
    case text(String)
  }

  struct Malformed: Error, CustomStringConvertible {
    let description: String
  }

  /// Parses the `html` element of a whole page.
  init(page bytes: [UInt8]) throws {
    var reader = MarkupReader(Array(String(decoding: bytes, as: UTF8.self).unicodeScalars))
    self = try reader.page()
  }

  init(name: String, attributes: [String: String], children: [Node]) {
    self.name = name
    self.attributes = attributes
    self.children = children
  }

  /// This element and all of its descendants, in their order.
  var all: [Markup] {
    [self]
      + children.flatMap { child -> [Markup] in
        guard case .element(let element) = child else { return [] }
        return element.all
      }
  }

  func all(_ name: String) -> [Markup] { all.filter { $0.name == name } }

  /// Whether it has this class.
  func has(_ className: String) -> Bool {
    attributes["class"]?.split(separator: " ").contains { $0 == className } ?? false
  }

  /// The text of this element and its descendants, with single spaces.
  var text: String { raw.split(whereSeparator: \.isWhitespace).joined(separator: " ") }

  private var raw: String {
    children.map { child in
      switch child {
      case .text(let text): text
      case .element(let element): element.isInline ? element.raw : " " + element.raw + " "
      }
    }.joined()
  }

  private var isInline: Bool { ["a", "bdi", "span", "strong", "time"].contains(name) }

  /// The nested names of the elements.
  var shape: String {
    name
      + "("
      + children.compactMap { child in
        guard case .element(let element) = child else { return nil }
        return element.shape
      }.joined(separator: ",") + ")"
  }
}

private struct MarkupReader {
  private let scalars: [Unicode.Scalar]
  private var place = 0
  private static let void: Set<String> = ["meta", "link", "img", "input", "source"]
  private static let entities: [String: String] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "#39": "'",
  ]

  init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

  mutating func page() throws -> Markup {
    try expect("<!DOCTYPE html>\n")
    guard case .element(let page) = try node() else { throw Markup.Malformed(description: "no element") }
    while peek == "\n" { place += 1 }
    guard place == scalars.count else { throw malformed("something behind the page") }
    return page
  }

  private var peek: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

  private mutating func node() throws -> Markup.Node {
    guard peek == "<" else { return .text(try text(until: "<")) }
    place += 1
    let name = try word()
    var attributes: [String: String] = [:]
    while peek == " " {
      place += 1
      let key = try word()
      guard attributes[key] == nil else { throw malformed("\(key) comes twice") }
      guard peek == "=" else {
        attributes[key] = ""
        continue
      }
      try expect("=\"")
      attributes[key] = try text(until: "\"")
      try expect("\"")
    }
    try expect(">")
    var element = Markup(name: name, attributes: attributes, children: [])
    guard !Self.void.contains(name) else { return .element(element) }
    while !starts("</") {
      guard peek != nil else { throw malformed("\(name) is open at the end") }
      element.children.append(try node())
    }
    try expect("</\(name)>")
    return .element(element)
  }

  private mutating func word() throws -> String {
    var word = ""
    while let scalar = peek, ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "-" {
      word.unicodeScalars.append(scalar)
      place += 1
    }
    guard !word.isEmpty else { throw malformed("a name") }
    return word
  }

  private mutating func text(until end: Unicode.Scalar) throws -> String {
    var text = ""
    while let scalar = peek, scalar != end {
      guard scalar != "<", scalar != ">", scalar.value >= 0x20 || scalar == "\n" || scalar == "\t" else {
        throw malformed("\(scalar.value) stands in text")
      }
      place += 1
      guard scalar == "&" else {
        text.unicodeScalars.append(scalar)
        continue
      }
      var entity = ""
      while let letter = peek, letter != ";", entity.count < 6 {
        entity.unicodeScalars.append(letter)
        place += 1
      }
      try expect(";")
      guard let meant = Self.entities[entity] else { throw malformed("&\(entity);") }
      text += meant
    }
    return text
  }

  private func starts(_ wanted: String) -> Bool {
    scalars[place...].starts(with: wanted.unicodeScalars)
  }

  private mutating func expect(_ wanted: String) throws {
    guard starts(wanted) else { throw malformed("expected \(wanted)") }
    place += wanted.unicodeScalars.count
  }

  private func malformed(_ what: String) -> Markup.Malformed {
    let around = scalars[max(0, place - 40)..<min(scalars.count, place + 40)]
    return Markup.Malformed(description: "\(what) at \(place): …\(String(String.UnicodeScalarView(around)))…")
  }
}
