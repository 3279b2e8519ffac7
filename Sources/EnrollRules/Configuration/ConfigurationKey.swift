// The keys of a configuration as data: the JSON reader, the checks, the JSON Schema, the documentation and the names in
// errors all use this one table.

/// One key of a configuration in JSON.
public struct ConfigurationKey: Sendable {
  /// The type of a key's value.
  public indirect enum Shape: Sendable {
    /// Any text.
    case text
    /// A URL; the key's documentation says which URLs are accepted.
    case url
    /// true or false.
    case boolean
    /// A whole number in a range.
    case integer(ClosedRange<Int64>)
    /// One of these words.
    case oneOf([String])
    /// A list of values of this type.
    case list(Shape)
    /// An object with the host's own member names and texts as values.
    case texts
    /// An object with these keys and no others.
    case object([ConfigurationKey])
    /// A value of either type.
    case either(Shape, Shape)
    /// A type with a name, which is the same in all languages, and one sentence that describes it.
    case named(String, String, Shape)
  }

  /// The key's name in the documentation and in errors.
  public var name: String
  /// Spellings that are accepted instead of ``name``, but not together with it.
  public var otherSpellings: [String]
  /// The type of the key's value.
  public var shape: Shape
  /// Whether a configuration without the key is refused.
  public var isRequired: Bool
  /// Whether the value is never shown or logged (R40).
  public var isSecret: Bool
  /// Whether the value is the path of a file.
  public var isFile: Bool
  /// One or two sentences for the documentation.
  public var documentation: String
  /// The property of `Configuration` that has the value, or a part of it; ``name`` for a key without a property.
  let property: String
  /// Sets the property to the value of the key in JSON.
  let read: Reading?
  private let check: Check?

  typealias Reading = @Sendable (inout Configuration, ConfigurationValue) -> Void
  /// Returns what is wrong with the property; nil if the property is valid. The function is called for every
  /// configuration, with or without the key.
  typealias Check = @Sendable (Configuration) -> ConfigurationFault?

  @inline(never)
  package init(
    _ name: String, or otherSpellings: [String] = [], _ shape: Shape, required: Bool = false,
    secret: Bool = false, file: Bool = false, _ documentation: String
  ) {
    self.init(
      name, property: name, or: otherSpellings, shape, required: required, secret: secret, file: file,
      documentation, read: nil)
  }

  /// - Parameter property: the name of the property; nil if the property has the name of the key.
  @inline(never)
  init(
    _ name: String, property: String? = nil, or otherSpellings: [String] = [], _ shape: Shape,
    required: Bool = false, secret: Bool = false, file: Bool = false, _ documentation: String,
    read: Reading?, check: Check? = nil
  ) {
    self.property = property ?? name
    self.read = read
    self.check = check
    self.name = name
    self.otherSpellings = otherSpellings
    self.shape = shape
    self.isRequired = required
    self.isSecret = secret
    self.isFile = file
    self.documentation = documentation
  }

  /// What is wrong with the value of the key in a configuration; nil if the value is valid.
  func fault(in configuration: Configuration) -> ConfigurationFault? { check?(configuration)?.inside(name) }
}

extension Configuration {
  /// All keys, in the order of the documentation.
  public static var keys: [ConfigurationKey] {
    presetKeys + providerKeys + resourceKeys + signInKeys + registrationKeys + developmentKeys
  }
}
