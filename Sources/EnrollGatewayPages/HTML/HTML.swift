// Markup, written front to back into bytes. Text is escaped, attributes are quoted and escaped, elements close themselves: what
// comes from outside can be nothing but text. There is no way to write a script of a page's own, a style, an event handler or a raw string.

/// Markup that is being written.
struct HTML: Sendable {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// `<!DOCTYPE html>`, which keeps browsers out of quirks mode (HTML §13.1.1).
  mutating func doctype() { append("<!DOCTYPE html>\n") }

  /// An element with what `content` writes.
  mutating func element(_ tag: Tag, _ attributes: Attribute..., content: (inout HTML) -> Void) {
    element(tag, with: attributes, content: content)
  }

  mutating func element(_ tag: Tag, with attributes: [Attribute], content: (inout HTML) -> Void) {
    open(tag.rawValue, attributes)
    if tag.isBlock { bytes.append(UInt8(ascii: "\n")) }
    content(&self)
    append("</")
    bytes += tag.rawValue.utf8
    append(tag.isBlock ? ">\n" : ">")
  }

  /// An element with text.
  mutating func element(_ tag: Tag, _ attributes: Attribute..., text: String) {
    open(tag.rawValue, attributes)
    self.text(text)
    append("</")
    bytes += tag.rawValue.utf8
    append(tag.isInline ? ">" : ">\n")
  }

  /// A script of this origin, which runs once the page has been read. Its text is a file: none is ever written into a page.
  mutating func script(_ link: PageLink) {
    open("script", [.src(link), .deferred])
    append("</script>\n")
  }

  /// An element that has no content: `<input …>`.
  mutating func void(_ tag: VoidTag, _ attributes: Attribute...) { void(tag, with: attributes) }

  mutating func void(_ tag: VoidTag, with attributes: [Attribute]) {
    open(tag.rawValue, attributes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Text, escaped.
  mutating func text(_ text: String) {
    let isWhole: Void? = text.utf8.withContiguousStorageIfAvailable { escape($0) }
    if isWhole == nil { for byte in text.utf8 { escape(byte) } }
  }

  /// In runs: most text has nothing to escape.
  private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
    var begin = 0
    for (place, byte) in text.enumerated() where Self.isSpecial(byte) {
      bytes.append(contentsOf: text[begin..<place])
      escape(byte)
      begin = place + 1
    }
    bytes.append(contentsOf: text[begin...])
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
    case UInt8(ascii: "\n"), UInt8(ascii: "\t"): false
    default: byte < 0x20 || byte == 0x7F
    }
  }

  private mutating func open(_ name: String, _ attributes: [Attribute]) {
    bytes.append(UInt8(ascii: "<"))
    bytes += name.utf8
    for attribute in attributes {
      bytes.append(UInt8(ascii: " "))
      append(attribute.name)
      switch attribute.value {
      case .none: continue
      case .literal(let literal):
        append("=\"")
        append(literal)
      case .text(let text):
        append("=\"")
        self.text(text)
      case .numbered(let prefixes, let number):
        append("=\"")
        for (place, prefix) in prefixes.enumerated() {
          if place > 0 { bytes.append(UInt8(ascii: " ")) }
          append(prefix)
          bytes += String(number).utf8
        }
      case .suffixed(let name, let suffixes):
        append("=\"")
        for (place, suffix) in suffixes.enumerated() {
          if place > 0 { bytes.append(UInt8(ascii: " ")) }
          append(name)
          bytes.append(UInt8(ascii: "-"))
          append(suffix)
        }
      }
      bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(UInt8(ascii: ">"))
  }

  /// The five characters that mean something in text or in a quoted attribute, and the control characters that no document may
  /// contain (HTML §13.2.3.5): they become U+FFFD.
  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "&"): append("&amp;")
    case UInt8(ascii: "<"): append("&lt;")
    case UInt8(ascii: ">"): append("&gt;")
    case UInt8(ascii: "\""): append("&quot;")
    case UInt8(ascii: "'"): append("&#39;")
    case UInt8(ascii: "\n"), UInt8(ascii: "\t"), 0x20..<0x7F, 0x80...: bytes.append(byte)
    default: append("\u{FFFD}")
    }
  }

  /// Only what this module's sources say literally goes in as it is.
  private mutating func append(_ literal: StaticString) {
    literal.withUTF8Buffer { bytes += $0 }
  }
}

/// The elements that pages are made of. `script`, `style`, `iframe`, `object` and their like are not among them.
enum Tag: String, Sendable {
  case html, head, title, body
  case header, main, footer, nav, section
  case h1, h2, h3, p, a, bdi, span, strong, time, ul, li, dl, dt, dd, div
  case form, button, label, picture

  /// Begins and ends on a line of its own.
  fileprivate var isBlock: Bool {
    switch self {
    case .html, .head, .body, .header, .main, .footer, .nav, .section, .ul, .dl, .div, .form: true
    default: false
    }
  }

  fileprivate var isInline: Bool {
    switch self {
    case .a, .bdi, .span, .strong, .time: true
    default: false
    }
  }
}

/// The elements that have no content (HTML §13.1.2).
enum VoidTag: String, Sendable {
  case meta, link, img, input, source
}
