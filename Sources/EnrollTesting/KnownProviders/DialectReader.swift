// Reads one object of a dialect, member by member, and refuses members that were not read, so a dialect cannot contain
// anything that the fake does not support.

import EnrollJSON

/// An object of a dialect. The type is a class, because a reader remembers which members were read.
final class DialectReader {
  private let object: JSONObject
  private let path: String
  private var seen: Set<String> = []

  init(_ json: JSON?, path: String) throws(DialectError) {
    guard let object = (json ?? .object([])).object else { throw DialectError("\(path): expected an object") }
    self.object = object
    self.path = path
  }

  /// The member; nil if the member is absent.
  func json(_ key: String) -> JSON? {
    seen.insert(key)
    return object[key]
  }

  func text(_ key: String) throws(DialectError) -> String? { try read(key, "a text") { $0.string } }

  func required(_ key: String) throws(DialectError) -> String {
    guard let text = try text(key) else { throw DialectError("\(path)/\(key): missing") }
    return text
  }

  func boolean(_ key: String) throws(DialectError) -> Bool? {
    try read(key, "true or false") { $0.bool }
  }

  func integer(_ key: String) throws(DialectError) -> Int64? {
    try read(key, "an integer") { $0.integer }
  }

  func texts(_ key: String) throws(DialectError) -> [String]? { try read(key, "texts") { Self.texts($0) } }

  /// The value of the enumeration that the member's text names.
  func word<Word: RawRepresentable & CaseIterable>(
    _ key: String, _ type: Word.Type = Word.self
  ) throws(DialectError) -> Word? where Word.RawValue == String {
    let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
    return try read(key, "one of \(words)") { $0.string.flatMap { Word(rawValue: $0) } }
  }

  func part(_ key: String) throws(DialectError) -> DialectReader {
    try DialectReader(json(key), path: "\(path)/\(key)")
  }

  /// Checks that every member was read.
  /// - Throws: ``DialectError`` if the object has members that were not read.
  func end() throws(DialectError) {
    if let member = object.members.first(where: { !seen.contains($0.key) }) {
      throw DialectError("\(path)/\(member.key): the fake does not play this")
    }
  }

  static func texts(_ json: JSON) -> [String]? {
    guard let texts = json.array?.map(\.string), !texts.contains(nil) else { return nil }
    return texts.compactMap { $0 }
  }

  private func read<Value>(
    _ key: String, _ expected: String, _ read: (JSON) -> Value?
  ) throws(DialectError) -> Value? {
    guard let json = json(key) else { return nil }
    guard let value = read(json) else { throw DialectError("\(path)/\(key): expected \(expected)") }
    return value
  }
}

/// An error in the data of the dialects.
public struct DialectError: Error, CustomStringConvertible {
  /// The path of the member with the error, and what was expected there.
  public let description: String

  init(_ description: String) { self.description = description }
}
