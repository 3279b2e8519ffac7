// The parameters of a query or a form. A repeated parameter is refused (RFC 6749 §3.1), and so are malformed escapes: two
// parsers could read them differently.

import EnrollRules
import EnrollHTTP

/// Parameters that each occur once.
struct Parameters: Equatable {
  private let fields: [String: String]

  static let limit = 32
  static let byteLimit = 8192

  /// Parses a text; nil if it is ambiguous or malformed.
  init?(encoded text: String?) {
    self.init(bytes: Array((text ?? "").utf8))
  }

  /// Parses bytes; nil if they are ambiguous or malformed.
  init?(bytes: [UInt8]) {
    guard
      let read = try? FormEncoding.decode(bytes, maximumFields: Self.limit, maximumBytes: Self.byteLimit)
    else { return nil }
    var fields: [String: String] = [:]
    for (name, value) in read {
      guard fields.updateValue(value, forKey: name) == nil else { return nil }
    }
    self.fields = fields
  }

  /// The value of a parameter, which may be empty; nil if the parameter is absent.
  subscript(name: String) -> String? { fields[name] }
}

extension WebRequest {
  /// The body as a form; nil for another content type, or if the form is invalid.
  var form: Parameters? {
    guard let type = value(of: "Content-Type") else { return nil }
    let name = type.utf8.prefix { $0 != 0x3B && $0 != 0x20 }
    guard ASCII.equalsIgnoringCase(String(Substring(name)), FormEncoding.contentType) else { return nil }
    return Parameters(bytes: body)
  }
}
