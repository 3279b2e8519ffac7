// Reading what the store wrote, member by member: each has its kind, none may be missing, none may be left over. A
// record that was changed by accident or by another hand is refused as a whole rather than half believed.

import EnrollCrypto
import EnrollJSON

/// A JSON object that is read once, completely.
struct StrictObject {
  private let object: JSONObject
  private let place: String
  private var used = 0

  /// - Parameter place: where the object stands, for error texts.
  init(_ value: JSON, _ place: String) throws(EnrollError) {
    guard let object = value.object else { throw StrictObject.damaged(place, "an object", value) }
    self.object = object
    self.place = place
  }

  static func damaged(_ place: String, _ expected: String, _ value: JSON?) -> EnrollError {
    EnrollError(
      .storeCorrupt, "\(place): expected \(expected), found \(value?.kind ?? "nothing")", field: place)
  }

  /// The members read so far are all there are.
  func end() throws(EnrollError) {
    guard used == object.members.count else {
      throw EnrollError(
        .storeCorrupt, "\(place): \(object.members.count - used) members that do not belong there",
        field: place)
    }
  }

  mutating func optional(_ key: String) -> JSON? {
    guard let value = object[key] else { return nil }
    used += 1
    return value
  }

  mutating func value(_ key: String) throws(EnrollError) -> JSON {
    guard let value = optional(key) else { throw StrictObject.damaged(place + "." + key, "a value", nil) }
    return value
  }

  mutating func string(_ key: String) throws(EnrollError) -> String {
    try text(value(key), key)
  }

  mutating func optionalString(_ key: String) throws(EnrollError) -> String? {
    guard let value = optional(key) else { return nil }
    return try text(value, key)
  }

  mutating func strings(_ key: String) throws(EnrollError) -> [String] {
    var result: [String] = []
    for element in try array(key) { result.append(try text(element, key)) }
    return result
  }

  mutating func optionalStrings(_ key: String) throws(EnrollError) -> [String]? {
    object[key] == nil ? nil : try strings(key)
  }

  mutating func array(_ key: String) throws(EnrollError) -> [JSON] {
    let value = try value(key)
    guard let array = value.array else { throw StrictObject.damaged(place + "." + key, "an array", value) }
    return array
  }

  mutating func integer(_ key: String) throws(EnrollError) -> Int64 {
    try number(value(key), key)
  }

  mutating func optionalInteger(_ key: String) throws(EnrollError) -> Int64? {
    guard let value = optional(key) else { return nil }
    return try number(value, key)
  }

  mutating func bool(_ key: String) throws(EnrollError) -> Bool {
    let value = try value(key)
    guard let bool = value.bool else { throw StrictObject.damaged(place + "." + key, "a boolean", value) }
    return bool
  }

  mutating func time(_ key: String) throws(EnrollError) -> UnixTime {
    UnixTime(seconds: try integer(key))
  }

  /// Base64url.
  mutating func bytes(_ key: String) throws(EnrollError) -> [UInt8] {
    let text = try string(key)
    guard let bytes = Base64URL.decode(text) else {
      throw StrictObject.damaged(place + "." + key, "base64url", .string(text))
    }
    return bytes
  }

  mutating func secret(_ key: String) throws(EnrollError) -> Secret {
    try secret(value(key), key)
  }

  mutating func optionalSecret(_ key: String) throws(EnrollError) -> Secret? {
    guard let value = optional(key) else { return nil }
    return try secret(value, key)
  }

  private func text(_ value: JSON, _ key: String) throws(EnrollError) -> String {
    guard let text = value.string else { throw StrictObject.damaged(place + "." + key, "a string", value) }
    return text
  }

  private func number(_ value: JSON, _ key: String) throws(EnrollError) -> Int64 {
    guard let number = value.integer else {
      throw StrictObject.damaged(place + "." + key, "an integer", value)
    }
    return number
  }

  private func secret(_ value: JSON, _ key: String) throws(EnrollError) -> Secret {
    if let text = value.string { return Secret(text) }
    var object = try StrictObject(value, place + "." + key)
    guard let bytes = Base64URL.decode(try object.string("bytes")) else {
      throw StrictObject.damaged(place + "." + key, "base64url", nil)
    }
    try object.end()
    return Secret(bytes)
  }
}

extension JSON {
  /// Printable ASCII, which tokens are, stands as it is; other bytes as base64url, so that every secret survives.
  static func secret(_ secret: Secret) -> JSON {
    let isText = secret.withBytes { $0.allSatisfy { $0 >= 0x20 && $0 <= 0x7E } }
    if isText { return .string(secret.reveal()) }
    return .object([("bytes", .string(Base64URL.encode(secret.revealBytes())))])
  }

  static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

  static func time(_ time: UnixTime) -> JSON { .integer(time.seconds) }
}
