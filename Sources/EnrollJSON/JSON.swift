// One JSON value for the whole project (RFC 8259). Reading enforces limits before anything is used (R37).

/// A JSON value. Numbers keep their kind: an integer that fits 64 bits is `integer`, every other number is `number`.
public enum JSON: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object(JSONObject)
}

/// An object: its members in the order they came, keys unique.
public struct JSONObject: Equatable, Sendable {
  public private(set) var members: [Member]

  public struct Member: Equatable, Sendable {
    public var key: String
    public var value: JSON
  }

  public init() { members = [] }

  /// Members whose value is nil are left out; a repeated key keeps the last value.
  public init(_ members: [(String, JSON?)]) {
    self.members = []
    self.members.reserveCapacity(members.count)
    for (key, value) in members { self[key] = value }
  }

  /// For members whose keys are known to be unique: checking that here would make reading quadratic.
  init(unique members: [Member]) { self.members = members }

  public var isEmpty: Bool { members.isEmpty }

  /// Setting nil removes the member. Keys are compared byte by byte.
  public subscript(key: String) -> JSON? {
    get { index(of: key).map { members[$0].value } }
    set {
      switch (index(of: key), newValue) {
      case (let at?, let value?): members[at].value = value
      case (let at?, nil): members.remove(at: at)
      case (nil, let value?): members.append(Member(key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  private func index(of key: String) -> Int? {
    members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
  }
}

extension JSON {
  public static func object(_ members: [(String, JSON?)]) -> JSON { .object(JSONObject(members)) }

  /// The member of an object; nil for any other kind of value.
  public subscript(key: String) -> JSON? {
    if case .object(let object) = self { object[key] } else { nil }
  }

  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
  public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
  public var isNull: Bool { self == .null }

  /// What kind of value it is, for error texts: `string`, `integer`, …
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
