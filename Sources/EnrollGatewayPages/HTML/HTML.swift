// Markup, written in order into bytes. Text is escaped, attributes are quoted and escaped, elements are closed: outside values
// can only become text. Inline scripts, styles, event handlers and raw strings cannot be written.

/// A builder of markup.
struct HTML: Sendable {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Writes `<!DOCTYPE html>`, which keeps browsers out of quirks mode (HTML §13.1.1).
  mutating func doctype() { append("<!DOCTYPE html>\n") }

  /// Writes an element; `content` writes its content.
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

  /// Writes an element with text.
  mutating func element(_ tag: Tag, _ attributes: Attribute..., text: String) {
    open(tag.rawValue, attributes)
    self.text(text)
    append("</")
    bytes += tag.rawValue.utf8
    append(tag.isInline ? ">" : ">\n")
  }

  /// Writes a reference to a script file of this origin, which runs after the page was parsed. There are no inline scripts.
  mutating func script(_ link: PageLink) {
    open("script", [.src(link), .deferred])
    append("</script>\n")
  }

  /// Writes an element without content: `<input …>`.
  mutating func void(_ tag: VoidTag, _ attributes: Attribute...) { void(tag, with: attributes) }

  mutating func void(_ tag: VoidTag, with attributes: [Attribute]) {
    open(tag.rawValue, attributes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Writes escaped text.
  mutating func text(_ text: String) {
    let isWhole: Void? = text.utf8.withContiguousStorageIfAvailable { escape($0) }
    if isWhole == nil { for byte in text.utf8 { escape(byte) } }
  }

  /// Escapes a text. Runs of bytes without escapes are copied at once, because most text has nothing to escape.
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

  /// Escapes the five characters that have a meaning in text or in a quoted attribute. Control characters that a document must
  /// not contain (HTML §13.2.3.5) become U+FFFD.
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

  /// Writes a literal of this module's sources unescaped; nothing else is written unescaped.
  private mutating func append(_ literal: StaticString) {
    literal.withUTF8Buffer { bytes += $0 }
  }
}

/// The elements of pages. `script`, `style`, `iframe`, `object` and similar elements are not among them.
enum Tag: String, Sendable {
  case html, head, title, body
  case header, main, footer, nav, section
  case h1, h2, h3, p, a, bdi, span, strong, time, ul, li, dl, dt, dd, div
  case form, button, label, picture

  /// Whether the element begins and ends on a separate line.
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

/// Elements without content (HTML §13.1.2).
enum VoidTag: String, Sendable {
  case meta, link, img, input, source
}
