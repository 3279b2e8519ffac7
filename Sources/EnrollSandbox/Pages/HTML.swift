// HTML as a type. Strings that are interpolated into it are escaped; interpolated HTML is not.

/// A piece of HTML. `"<p>\(name)</p>"` escapes `name`.
struct HTML: ExpressibleByStringInterpolation, Sendable {
  var text: String

  init(stringLiteral value: String) { text = value }
  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  static let none: HTML = ""

  static func escaped(_ value: String) -> String {
    var out = ""
    out.reserveCapacity(value.utf8.count)
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "'": out += "&#39;"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  struct StringInterpolation: StringInterpolationProtocol {
    var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }
    mutating func appendInterpolation(_ value: HTML) { text += value.text }
    mutating func appendInterpolation(_ values: [HTML]) { for value in values { text += value.text } }
  }
}

extension DefaultStringInterpolation {
  @available(*, unavailable, message: "markup in a plain string would be escaped text: make that string HTML")
  mutating func appendInterpolation(_ markup: HTML) {}
}
