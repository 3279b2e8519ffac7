// A schema as JSON Schema, draft 2020-12, for the manifest.

public import EnrollJSON

extension Schema {
  public static let dialect = "https://json-schema.org/draft/2020-12/schema"

  /// The direction of a value. Inputs allow only the members of the schema; outputs may have more members in later
  /// versions.
  public enum Direction: Sendable { case input, output }

  /// The schema as JSON Schema; for a named type, a reference to that type. Byte limits are printed as `maxLength`,
  /// which counts characters: the check of EnrollKit is stricter.
  /// - Parameter types: the document's `$defs`, to which new named types are added.
  public func document(_ direction: Direction, _ types: inout JSONObject) -> JSON {
    guard let name else { return .object(description(direction, &types)) }
    if types[name] == nil {
      // Reserves the place of this type in the document, before the types that it uses are added.
      types[name] = .object(JSONObject())
      types[name] = .object(description(direction, &types))
    }
    return Schema.reference(name, use)
  }

  /// A reference to a named type.
  /// - Parameter use: the description of this value of the type.
  static func reference(_ name: String, _ use: String) -> JSON {
    .object([
      ("$ref", .string("#/$defs/" + name)), ("description", use.utf8.isEmpty ? nil : .string(use)),
    ])
  }

  private func description(_ direction: Direction, _ types: inout JSONObject) -> JSONObject {
    var members = keywords(direction, &types)
    if let format { members["format"] = .string(format.rawValue) }
    if isSensitive { members["sensitive"] = .bool(true) }
    if !documentation.utf8.isEmpty { members["description"] = .string(documentation) }
    return members
  }

  private func keywords(_ direction: Direction, _ types: inout JSONObject) -> JSONObject {
    switch shape {
    case .text(let maximumBytes):
      return JSONObject([("type", .string("string")), ("maxLength", .integer(Int64(maximumBytes)))])
    case .boolean: return JSONObject([("type", .string("boolean"))])
    case .integer(let range):
      return JSONObject([
        ("type", .string("integer")),
        ("minimum", range.lowerBound == .min ? nil : .integer(range.lowerBound)),
        ("maximum", range.upperBound == .max ? nil : .integer(range.upperBound)),
      ])
    case .oneOf(let names):
      return names.count == 1
        ? JSONObject([("const", names.first.map { .string($0) })])
        : JSONObject([("enum", .array(names.map { .string($0) }))])
    case .list(let element, let maximumCount):
      return JSONObject([
        ("type", .string("array")), ("items", element.document(direction, &types)),
        ("maxItems", .integer(Int64(maximumCount))),
      ])
    case .texts(let maximumCount):
      return JSONObject([
        ("type", .string("object")), ("additionalProperties", .object([("type", .string("string"))])),
        ("maxProperties", .integer(Int64(maximumCount))),
      ])
    case .object(let properties): return object(properties, direction, &types)
    case .anyOf(let schemas):
      var options: [JSON] = []
      for schema in schemas { options.append(schema.document(direction, &types)) }
      return JSONObject([("anyOf", .array(options))])
    case .claims: return JSONObject([("type", .string("object"))])
    case .configuration: return ConfigurationSchema.keywords(&types)
    }
  }

  private func object(
    _ properties: [Property], _ direction: Direction, _ types: inout JSONObject
  ) -> JSONObject {
    var described = JSONObject()
    var required: [JSON] = []
    for property in properties {
      described[property.name] = property.document(direction, &types)
      if property.isRequired { required.append(.string(property.name)) }
    }
    return JSONObject([
      ("type", .string("object")),
      ("properties", .object(described)),
      ("required", required.isEmpty ? nil : .array(required)),
      ("additionalProperties", direction == .input ? .bool(false) : nil),
    ])
  }
}

extension Schema.Property {
  fileprivate func document(_ direction: Schema.Direction, _ types: inout JSONObject) -> JSON {
    let document = schema.document(direction, &types)
    guard let defaultValue, case .object(var members) = document else { return document }
    members["default"] = defaultValue
    return .object(members)
  }
}
