// `application/x-www-form-urlencoded`: the encoding of form bodies (RFC 6749 Appendix B) and, with `%20` for a space,
// of the queries that EnrollKit adds to URLs (RFC 3986 §3.4). Values may be secrets, which are copied byte by byte and
// never become Strings (R40). Decoding refuses malformed texts, and texts over a limit.

public import EnrollCrypto

/// Fields that are encoded in the order in which they are added.
public struct FormEncoding: Sendable {
  public enum Style: Sendable {
    /// A space is written as `+`.
    case body
    /// A space is written as `%20`, which every parser of a query understands.
    case query
  }

  public static let contentType = "application/x-www-form-urlencoded"

  /// The bytes written so far.
  public private(set) var bytes: [UInt8] = []
  /// The secrets among the values.
  private(set) var secrets: [Secret] = []
  private let style: Style

  public init(_ style: Style) { self.style = style }

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  @inline(never)
  public mutating func add(_ name: String, _ value: String) {
    addName(name)
    PercentEncoding.append(value.utf8, to: &bytes, plusForSpace: style == .body)
  }

  @inline(never)
  public mutating func add(_ name: String, _ value: Secret) {
    addName(name)
    secrets.append(value)
    value.withBytes { PercentEncoding.append($0, to: &bytes, plusForSpace: style == .body) }
  }

  @inline(never)
  private mutating func addName(_ name: String) {
    if !bytes.isEmpty { bytes.append(0x26) }
    PercentEncoding.append(name.utf8, to: &bytes, plusForSpace: style == .body)
    bytes.append(0x3D)
  }
}

extension FormEncoding {
  /// Encodes a whole body at once.
  public static func encode(_ fields: [(String, String)]) -> [UInt8] {
    var form = FormEncoding(.body)
    for (name, value) in fields { form.add(name, value) }
    return form.bytes
  }

  /// Decodes a body or a query, in which `+` is a space.
  /// - Parameters:
  ///   - maximumFields: a text with more fields is refused.
  ///   - maximumBytes: a longer text is refused.
  /// - Throws: `.invalidArgument` if the text is over a limit, has a malformed `%XX`, is not UTF-8 after decoding, or
  ///   has a NUL.
  public static func decode(
    _ text: [UInt8], maximumFields: Int = 64, maximumBytes: Int = 1 << 16
  ) throws(EnrollError) -> [(String, String)] {
    guard text.count <= maximumBytes else {
      throw EnrollError(
        .invalidArgument, "expected a form of at most \(maximumBytes) bytes, got \(text.count)")
    }
    var fields: [(String, String)] = []
    for field in text.split(separator: 0x26) {
      guard fields.count < maximumFields else {
        throw EnrollError(.invalidArgument, "expected a form of at most \(maximumFields) fields")
      }
      let equals = field.firstIndex(of: 0x3D) ?? field.endIndex
      guard let name = decodedText(field[..<equals]), let value = decodedText(field[equals...].dropFirst())
      else { throw EnrollError(.invalidArgument, "field \(fields.count + 1) of the form is malformed") }
      fields.append((name, value))
    }
    return fields
  }

  private static func decodedText(_ text: ArraySlice<UInt8>) -> String? {
    guard let bytes = PercentEncoding.decode(text, plusForSpace: true), !bytes.contains(0) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
