// Parameters of a query or of an `application/x-www-form-urlencoded` body (WHATWG URL §5), in their order. The
// provider parses and writes them with its own code, so that it shares no defect with the library under test. A text
// with more than 100 parameters is refused. Repeated names are kept, and the endpoints refuse them (RFC 6749 §3.1).

import Foundation

struct Form: Equatable, Sendable {
  private(set) var pairs: [(name: String, value: String)] = []

  static let pairLimit = 100

  init(_ pairs: [(name: String, value: String)] = []) { self.pairs = pairs }

  /// Parses a form; nil if there are too many parameters, or if a parameter is not valid percent-encoded UTF-8.
  init?(encoded text: some StringProtocol) {
    let parts = text.split(separator: "&")
    guard parts.count <= Self.pairLimit else { return nil }
    for part in parts {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(sides[0]) else { return nil }
      guard let value = sides.count > 1 ? Self.decoded(sides[1]) : "" else { return nil }
      pairs.append((name, value))
    }
  }

  /// The first value of that name; an empty value counts as absent (RFC 6749 §3.1).
  subscript(name: String) -> String? {
    pairs.first { $0.name == name && !$0.value.isEmpty }?.value
  }

  /// A name that occurs more than once; nil if there is none.
  var repeatedName: String? {
    var seen: Set<String> = []
    return pairs.first { !seen.insert($0.name).inserted }?.name
  }

  /// The space-separated words of one parameter, such as `scope` or `prompt`.
  func words(_ name: String) -> [String] {
    (self[name] ?? "").split(separator: " ").map(String.init)
  }

  var names: [String] { pairs.map(\.name) }

  mutating func append(_ name: String, _ value: String?) {
    if let value { pairs.append((name, value)) }
  }

  mutating func remove(_ name: String) { pairs.removeAll { $0.name == name } }

  mutating func set(_ name: String, _ value: String) {
    remove(name)
    append(name, value)
  }

  /// The parameters as text: `a=b&c=d`. Everything but the unreserved characters of RFC 3986 §2.3 is percent-encoded.
  var encoded: String {
    pairs.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }.joined(separator: "&")
  }

  static func == (left: Form, right: Form) -> Bool { left.encoded == right.encoded }

  private static let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  private static func decoded(_ text: some StringProtocol) -> String? {
    text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
  }
}
