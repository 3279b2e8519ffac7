// The parameters of a query or a form. One that comes twice is refused (RFC 6749 §3.1), and so is one whose escapes are malformed: two
// readers could read two things.

import EnrollCore
import EnrollHTTP

/// Parameters, each of them once.
struct Parameters: Equatable {
  private let fields: [String: String]

  static let limit = 32
  static let byteLimit = 8192

  /// nil for text that cannot be read in one way.
  init?(encoded text: String?) {
    self.init(bytes: Array((text ?? "").utf8))
  }

  /// nil for text that cannot be read in one way.
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

  /// nil where it is absent; an empty value is a value.
  subscript(name: String) -> String? { fields[name] }
}

extension WebRequest {
  /// The body as a form; nil for another type of content.
  var form: Parameters? {
    guard let type = value(of: "Content-Type") else { return nil }
    let name = type.utf8.prefix { $0 != 0x3B && $0 != 0x20 }
    guard ASCII.equalsIgnoringCase(String(Substring(name)), FormEncoding.contentType) else { return nil }
    return Parameters(bytes: body)
  }
}
