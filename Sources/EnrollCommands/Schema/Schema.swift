// Schemas of the parameters and results of commands. A schema checks JSON strictly, and prints itself as JSON Schema
// (draft 2020-12), so that a command's documentation matches what the command accepts.

public import EnrollJSON

/// The shape of one JSON value, with its documentation.
public struct Schema: Sendable {
  public enum Shape: Sendable {
    /// A string with a limit of UTF-8 bytes.
    case text(maximumBytes: Int)
    case boolean
    case integer(ClosedRange<Int64>)
    case oneOf([String])
    case list(Schema, maximumCount: Int)
    /// An object whose member names are the host's own, with strings as values.
    case texts(maximumCount: Int)
    /// An object with these members and no others.
    case object([Property])
    /// A value of one of these shapes.
    case anyOf([Schema])
    /// An object that is defined elsewhere: the claims of an id_token.
    case claims
    /// A configuration, checked by `Configuration(json:)` (flows.md §1).
    case configuration
  }

  /// One member of an object.
  public struct Property: Sendable {
    public var name: String
    public var schema: Schema
    public var isRequired: Bool
    /// The default of an absent member.
    public var defaultValue: JSON?

    init(_ name: String, _ schema: Schema, isRequired: Bool, defaultValue: JSON? = nil) {
      self.name = name
      self.schema = schema
      self.isRequired = isRequired
      self.defaultValue = defaultValue
    }

    @inline(never)
    static func required(_ name: String, _ schema: Schema) -> Property {
      Property(name, schema, isRequired: true)
    }

    @inline(never)
    static func optional(_ name: String, _ schema: Schema, default value: JSON? = nil) -> Property {
      Property(name, schema, isRequired: false, defaultValue: value)
    }
  }

  /// The meaning of a value beyond its shape: JSON Schema's `format`.
  public enum Format: String, Sendable {
    /// A length of time in seconds.
    case seconds
    /// A date, in seconds since 1970-01-01T00:00:00Z.
    case unixTime = "unix-time"
    /// A URL.
    case uri
  }

  /// A reference to an object, so that a schema is small to store and pass: commands and their results have hundreds of
  /// schemas.
  private let content: Content

  private final class Content: Sendable {
    let shape: Shape
    let documentation: String
    let name: String?
    let use: String
    let format: Format?
    let isSensitive: Bool

    init(
      shape: Shape, documentation: String, name: String?, use: String, format: Format?, isSensitive: Bool
    ) {
      self.shape = shape
      self.documentation = documentation
      self.name = name
      self.use = use
      self.format = format
      self.isSensitive = isSensitive
    }
  }

  public var shape: Shape { content.shape }
  /// The description of the named type; if the schema has no name, the description of this value.
  public var documentation: String { content.documentation }
  /// The name of the type in every language; nil for a shape that is no named type.
  public var name: String? { content.name }
  /// The description of this value, if its type has a name.
  public var use: String { content.use }
  public var format: Format? { content.format }
  /// Whether a program that prints results must not show the value. True for secrets, for values with which somebody
  /// could get a secret, and for the user's identity.
  public var isSensitive: Bool { content.isSensitive }

  @inline(never)
  init(_ shape: Shape, _ documentation: String = "", format: Format? = nil) {
    content = Content(
      shape: shape, documentation: documentation, name: nil, use: "", format: format, isSensitive: false)
  }

  @inline(never)
  private init(_ other: Schema, name: String? = nil, use: String? = nil, isSensitive: Bool? = nil) {
    content = Content(
      shape: other.shape, documentation: other.documentation, name: name ?? other.name,
      use: use ?? other.use, format: other.format, isSensitive: isSensitive ?? other.isSensitive)
  }

  /// This schema as a type with one name in all languages. The manifest defines the type once, in `$defs`.
  @inline(never)
  func named(_ name: String) -> Schema { Schema(self, name: name) }

  /// A value of this named type, with its own description.
  @inline(never)
  func `as`(_ use: String) -> Schema { Schema(self, use: use) }

  /// This schema for a sensitive value: a printed result does not show it.
  @inline(never)
  var sensitive: Schema { Schema(self, isSensitive: true) }

  @inline(never)
  static func object(_ properties: [Property], _ documentation: String = "") -> Schema {
    Schema(.object(properties), documentation)
  }

  @inline(never)
  static func text(_ documentation: String, maximumBytes: Int = TextLimits.other) -> Schema {
    Schema(.text(maximumBytes: maximumBytes), documentation)
  }

  @inline(never)
  static func uri(_ documentation: String, maximumBytes: Int = TextLimits.url) -> Schema {
    Schema(.text(maximumBytes: maximumBytes), documentation, format: .uri)
  }

  @inline(never)
  static func seconds(_ range: ClosedRange<Int64>, _ documentation: String) -> Schema {
    Schema(.integer(range), documentation, format: .seconds)
  }

  @inline(never)
  static func date(_ documentation: String) -> Schema {
    Schema(.integer(.min ... .max), documentation, format: .unixTime)
  }

  /// The schema of a value that is one of these words. It is a named type.
  @inline(never)
  static func words(_ name: String, _ words: [String], _ documentation: String) -> Schema {
    Schema(.oneOf(words), documentation).named(name)
  }

  /// The schema of a value that is always this string. Such a value distinguishes objects of several shapes.
  @inline(never)
  static func word(_ text: String, _ documentation: String = "") -> Schema {
    Schema(.oneOf([text]), documentation)
  }

  static let configuration = Schema(.configuration, "The provider and the client.").named("Configuration")

  /// The provider's claims about the user.
  static let profile = Schema(.claims, "Claims about the user (OpenID Connect Core §5.1).").named("Claims")
    .sensitive

  /// An object with no members.
  static let nothing = Schema.object([])

  /// The members of an object; empty for any other shape.
  public var properties: [Property] {
    if case .object(let properties) = shape { properties } else { [] }
  }
}
