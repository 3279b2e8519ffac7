// The JSON value that the whole project uses (RFC 8259). The reader enforces limits before a value is used (R37).

/// A JSON value. An integer that fits into 64 bits is `integer`, every other number is `number`.
public enum JSON: Equatable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number without fraction or exponent that fits into 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A text.
  case string(String)
  /// Values in their order.
  case array([JSON])
  /// Named values.
  case object(JSONObject)
}

/// An object: its members in their order, with unique keys.
public struct JSONObject: Equatable, Sendable {
  /// The members, in the order in which they were read or set.
  public private(set) var members: [Member]

  /// A key and its value.
  public struct Member: Equatable, Sendable {
    /// The key, which is unique in its object.
    public var key: String
    /// The value of the key.
    public var value: JSON
  }

  /// An object without members.
  public init() { members = [] }

  /// An object of these members, without members whose value is nil. If a key is repeated, its last value counts.
  public init(_ members: [(String, JSON?)]) {
    self.members = []
    self.members.reserveCapacity(members.count)
    for (key, value) in members { self[key] = value }
  }

  /// Makes an object of members whose keys are known to be unique. The keys are not checked, because a check would make
  /// reading quadratic.
  init(unique members: [Member]) { self.members = members }

  /// This object with additional members: the members of `other` whose keys `isWanted` accepts and this object does not
  /// have.
  public func completed(by other: JSONObject, where isWanted: (String) -> Bool) -> JSONObject {
    JSONObject(unique: members + other.members.filter { self[$0.key] == nil && isWanted($0.key) })
  }

  /// Whether the object has no members.
  public var isEmpty: Bool { members.isEmpty }

  /// The value of a key. Setting nil removes the member. Keys are compared byte by byte. The accessors are never
  /// inlined, because they are called in many places.
  public subscript(key: String) -> JSON? {
    @inline(never) get { index(of: key).map { members[$0].value } }
    @inline(never) set {
      switch (index(of: key), newValue) {
      case (let at?, let value?): members[at].value = value
      case (let at?, nil): members.remove(at: at)
      case (nil, let value?): members.append(Member(key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  /// The object without members that are `null`, at every depth.
  public var withoutNulls: JSONObject {
    var kept: [Member] = []
    kept.reserveCapacity(members.count)
    for member in members where !member.value.isNull {
      kept.append(Member(key: member.key, value: member.value.withoutNulls))
    }
    return JSONObject(unique: kept)
  }

  /// The object without its unwanted members and array elements, at every depth. A member is unwanted if `isUnwanted`
  /// returns true for its key or its text. An array element is unwanted if `isUnwanted` returns true for its text.
  public func without(texts isUnwanted: (String) -> Bool) -> JSONObject {
    var kept: [Member] = []
    for member in members where !isUnwanted(member.key) {
      guard let value = member.value.without(texts: isUnwanted) else { continue }
      kept.append(Member(key: member.key, value: value))
    }
    return JSONObject(unique: kept)
  }

  private func index(of key: String) -> Int? {
    members.indices.first { Self.areSame(members[$0].key, key) }
  }

  @_optimize(speed)
  private static func areSame(_ left: String, _ right: String) -> Bool {
    let left = left.utf8.span
    let right = right.utf8.span
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
  }
}

extension JSON {
  /// An object of these members. Leaves out members whose value is nil.
  public static func object(_ members: [(String, JSON?)]) -> JSON { .object(JSONObject(members)) }

  /// The member of an object; nil for any other kind of value.
  public subscript(key: String) -> JSON? {
    if case .object(let object) = self { object[key] } else { nil }
  }

  /// The text; nil for any other kind of value.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The integer; nil for any other kind of value.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The boolean; nil for any other kind of value.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  /// The elements; nil for any other kind of value.
  public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
  /// The members; nil for any other kind of value.
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
  /// Whether the value is `null`.
  public var isNull: Bool { self == .null }

  /// The value without members that are `null`, at every depth. Array elements stay.
  public var withoutNulls: JSON {
    switch self {
    case .object(let object): .object(object.withoutNulls)
    case .array(let elements): .array(elements.map { $0.withoutNulls })
    case .null, .bool, .integer, .number, .string: self
    }
  }

  /// Like ``JSONObject/without(texts:)``; nil if the value is a text for which `isUnwanted` returns true.
  func without(texts isUnwanted: (String) -> Bool) -> JSON? {
    switch self {
    case .object(let object): .object(object.without(texts: isUnwanted))
    case .array(let elements): .array(elements.compactMap { $0.without(texts: isUnwanted) })
    case .string(let text): isUnwanted(text) ? nil : self
    case .null, .bool, .integer, .number: self
    }
  }

  /// The kind of the value, for error messages: `string`, `integer`, …
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}
