// Reads the store's JSON member by member: each member must have its type, no required member may be missing, and no
// unknown member may be present. A record that was changed by accident or by another program is refused as a whole.

import EnrollCrypto
package import EnrollJSON

/// A JSON object that is read once, completely. The first fault of its members is kept until ``end()`` throws that
/// fault. A member that is read after a fault has an empty value, so nothing may be used before ``check()`` or
/// ``end()``. This type is a class, and its methods are not inlined, so that code that reads a member is only one call.
final class StrictObject {
  private let object: JSONObject
  private let place: String
  private var used = 0
  private var fault: EnrollError?
  private var isTold = false

  /// Begins to read an object.
  /// - Parameter place: the object's path, for error texts.
  @inline(never)
  init(_ value: JSON, _ place: String) {
    object = value.object ?? JSONObject()
    self.place = place
    fault = value.object == nil ? StrictObject.damaged(place, "an object", value) : nil
  }

  deinit { assert(fault == nil || isTold, "\(place): read without end()") }

  @inline(never)
  static func damaged(_ place: String, _ expected: String, _ value: JSON?) -> EnrollError {
    EnrollError(
      .storeCorrupt, "\(place): expected \(expected), found \(value?.kind ?? "nothing")", field: place)
  }

  /// The error to throw: the first fault that was recorded or, if there is no earlier fault, this fault.
  /// - Parameter what: the text after the place.
  @inline(never)
  func damaged(_ what: String) -> EnrollError {
    isTold = true
    return fault ?? EnrollError(.storeCorrupt, place + what, field: place)
  }

  /// Throws if a member that was read so far has a fault. Call this before you use a member.
  @inline(never)
  func check() throws(EnrollError) {
    isTold = true
    if let fault { throw fault }
  }

  /// Throws if a member has a fault, or was not read.
  @inline(never)
  func end() throws(EnrollError) {
    try check()
    guard used == object.members.count else {
      throw damaged(": \(object.members.count - used) members that do not belong there")
    }
  }

  /// A member that may be absent. nil if it is absent, and also after a fault.
  @inline(never)
  func optional(_ key: String) -> JSON? {
    guard fault == nil, let value = object[key] else { return nil }
    used += 1
    return value
  }

  /// A member for another decoder to read. If a fault is recorded already, this method throws it.
  @inline(never)
  func value(_ key: String) throws(EnrollError) -> JSON {
    let value = required(key)
    try check()
    return value
  }

  func string(_ key: String) -> String { text(required(key), key) ?? "" }

  @inline(never)
  func optionalString(_ key: String) -> String? {
    guard let value = optional(key) else { return nil }
    return text(value, key)
  }

  @inline(never)
  func strings(_ key: String) -> [String] {
    var result: [String] = []
    for element in array(key) { result.append(text(element, key) ?? "") }
    return result
  }

  func optionalArray(_ key: String) -> [JSON] { object[key] == nil ? [] : array(key) }

  func optionalStrings(_ key: String) -> [String]? { object[key] == nil ? nil : strings(key) }

  @inline(never)
  func array(_ key: String) -> [JSON] {
    let value = required(key)
    guard let array = value.array else {
      expected("an array", key, value)
      return []
    }
    return array
  }

  func integer(_ key: String) -> Int64 { number(required(key), key) ?? 0 }

  @inline(never)
  func optionalInteger(_ key: String) -> Int64? {
    guard let value = optional(key) else { return nil }
    return number(value, key)
  }

  @inline(never)
  func bool(_ key: String) -> Bool {
    let value = required(key)
    guard let bool = value.bool else {
      expected("a boolean", key, value)
      return false
    }
    return bool
  }

  func optionalBool(_ key: String) -> Bool? { object[key] == nil ? nil : bool(key) }

  func time(_ key: String) -> UnixTime { UnixTime(seconds: integer(key)) }

  /// A Boolean member that is written only if it is true; false if it is absent.
  func flag(_ key: String) -> Bool { object[key] == nil ? false : bool(key) }

  func expiry(_ key: String) -> Expiry { expiry(required(key), key) }

  @inline(never)
  func optionalExpiry(_ key: String) -> Expiry? {
    guard let value = optional(key) else { return nil }
    return expiry(value, key)
  }

  /// The bytes of a member that is base64url text.
  @inline(never)
  func bytes(_ key: String) -> [UInt8] {
    let text = string(key)
    guard let bytes = Base64URL.decode(text) else {
      expected("base64url", key, .string(text))
      return []
    }
    return bytes
  }

  func secret(_ key: String) -> Secret { secret(required(key), key) }

  @inline(never)
  func optionalSecret(_ key: String) -> Secret? {
    guard let value = optional(key) else { return nil }
    return secret(value, key)
  }

  @inline(never)
  private func required(_ key: String) -> JSON {
    if let value = optional(key) { return value }
    expected("a value", key, nil)
    return .null
  }

  @inline(never)
  private func text(_ value: JSON, _ key: String) -> String? {
    if value.string == nil { expected("a string", key, value) }
    return value.string
  }

  @inline(never)
  private func number(_ value: JSON, _ key: String) -> Int64? {
    if value.integer == nil { expected("an integer", key, value) }
    return value.integer
  }

  @inline(never)
  private func expiry(_ value: JSON, _ key: String) -> Expiry {
    let object = StrictObject(value, place + "." + key)
    let expiry = Expiry(object)
    take(object)
    return expiry
  }

  @inline(never)
  private func secret(_ value: JSON, _ key: String) -> Secret {
    if let text = value.string { return Secret(text) }
    let object = StrictObject(value, place + "." + key)
    let bytes = Base64URL.decode(object.string("bytes"))
    if bytes == nil { object.fault = object.fault ?? StrictObject.damaged(object.place, "base64url", nil) }
    take(object)
    return Secret(bytes ?? [])
  }

  /// Records the fault of a member that is itself an object.
  private func take(_ member: StrictObject) {
    do { try member.end() } catch { fault = fault ?? error }
  }

  @inline(never)
  private func expected(_ what: String, _ key: String, _ value: JSON?) {
    fault = fault ?? StrictObject.damaged(place + "." + key, what, value)
  }
}

extension JSON {
  /// Printable ASCII, such as a token, is stored unchanged. Other bytes are stored as base64url, so that every secret
  /// is preserved.
  static func secret(_ secret: Secret) -> JSON {
    let isText = secret.withBytes { $0.allSatisfy { $0 >= 0x20 && $0 <= 0x7E } }
    if isText { return .string(secret.reveal()) }
    return .object([("bytes", .string(Base64URL.encode(secret.revealBytes())))])
  }

  @inline(never)
  package static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

  static func time(_ time: UnixTime) -> JSON { .integer(time.seconds) }
}

/// Functions that each write one member; a member whose value is nil is left out.
extension JSONObject {
  @inline(never)
  mutating func put(_ key: String, _ text: String?) {
    if let text { self[key] = .string(text) }
  }

  @inline(never)
  mutating func put(_ key: String, _ number: Int64?) {
    if let number { self[key] = .integer(number) }
  }

  @inline(never)
  mutating func put(_ key: String, _ bool: Bool) { self[key] = .bool(bool) }

  @inline(never)
  mutating func put(_ key: String, _ secret: Secret?) {
    if let secret { self[key] = .secret(secret) }
  }

  @inline(never)
  mutating func put(_ key: String, _ texts: [String]) { self[key] = .strings(texts) }

  mutating func put(_ key: String, _ time: UnixTime?) { put(key, time?.seconds) }
}
