// What a command takes and gives, as a value: it checks JSON strictly and prints itself as JSON Schema (draft 2020-12),
// so that the documentation of a command cannot differ from what the command accepts.

public import EnrollJSON

/// The shape of one JSON value, with its documentation.
public struct Schema: Sendable {
  /// Only the case that needs a box is indirect: a box of every case would be known by a pointer with the case in its
  /// top bits, and tools that look for leaks take what such a pointer leads to for lost.
  public enum Shape: Sendable {
    /// A string of at most so many bytes of UTF-8.
    case text(maximumBytes: Int)
    case boolean
    case integer(ClosedRange<Int64>)
    case oneOf([String])
    indirect case list(Schema, maximumCount: Int)
    /// An object whose member names are the host's own, with strings as values.
    case texts(maximumCount: Int)
    /// An object with these members and no others.
    case object([Property])
    /// Whatever one of them takes.
    case anyOf([Schema])
    /// An object that somebody else describes: claims of an id_token.
    case claims
    /// A configuration, checked by `Configuration(json:)` (flows.md §1).
    case configuration
  }

  /// One member of an object.
  public struct Property: Sendable {
    public var name: String
    public var schema: Schema
    public var isRequired: Bool
    /// What its absence means.
    public var defaultValue: JSON?

    init(_ name: String, _ schema: Schema, isRequired: Bool, defaultValue: JSON? = nil) {
      self.name = name
      self.schema = schema
      self.isRequired = isRequired
      self.defaultValue = defaultValue
    }

    static func required(_ name: String, _ schema: Schema) -> Property {
      Property(name, schema, isRequired: true)
    }

    static func optional(_ name: String, _ schema: Schema, default value: JSON? = nil) -> Property {
      Property(name, schema, isRequired: false, defaultValue: value)
    }
  }

  public var shape: Shape
  public var documentation: String

  init(_ shape: Shape, _ documentation: String = "") {
    self.shape = shape
    self.documentation = documentation
  }

  static func object(_ properties: [Property], _ documentation: String = "") -> Schema {
    Schema(.object(properties), documentation)
  }

  static func text(_ documentation: String, maximumBytes: Int = 256) -> Schema {
    Schema(.text(maximumBytes: maximumBytes), documentation)
  }

  /// Always this one string: what tells objects of several shapes apart.
  static func word(_ text: String, _ documentation: String = "") -> Schema {
    Schema(.oneOf([text]), documentation)
  }

  /// An object with no members.
  static let nothing = Schema.object([])

  /// The members of an object; none for any other shape.
  public var properties: [Property] {
    if case .object(let properties) = shape { properties } else { [] }
  }
}
