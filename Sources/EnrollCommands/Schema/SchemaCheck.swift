// Checks a JSON value against a schema. The first difference is thrown as an error. The error names the member, what
// was expected, and the kind of the actual value, but never that value itself (R40).

public import EnrollRules
public import EnrollJSON

extension Schema {
  /// - Parameter path: the path of the value; empty for a command's whole input.
  /// - Throws: `.invalidArgument`; `field` is the path of the member at fault.
  public func check(_ value: JSON, path: String = "") throws(EnrollError) {
    switch shape {
    case .text(let maximumBytes):
      guard let text = value.string else { throw refusal(path, "expected a string, got \(value.kind)") }
      try TextLimits.check(text, field(path), maximumBytes)
    case .boolean:
      guard value.bool != nil else { throw refusal(path, "expected true or false, got \(value.kind)") }
    case .integer(let range):
      guard let number = value.integer else {
        throw refusal(path, "expected \(words(range)), got \(value.kind)")
      }
      guard range.contains(number) else {
        throw refusal(path, "expected \(words(range)), got \(number)")
      }
    case .oneOf(let names):
      guard let text = value.string, names.contains(where: { ASCII.equals($0, text) }) else {
        let came = value.string.map { "another string" + EditDistance.hint($0, among: names) } ?? value.kind
        throw refusal(path, "expected one of \(listed(names)), got \(came)")
      }
    case .list(let element, let maximumCount):
      guard let array = value.array else { throw refusal(path, "expected an array, got \(value.kind)") }
      try TextLimits.check(count: array.count, field(path), maximumCount)
      for (index, item) in array.enumerated() { try element.check(item, path: "\(path)[\(index)]") }
    case .texts(let maximumCount): try checkTexts(value, maximumCount, path)
    case .object(let properties): try check(value, properties, path)
    case .anyOf(let schemas): try check(value, anyOf: schemas, path)
    case .claims, .configuration:
      guard value.object != nil else { throw refusal(path, "expected an object, got \(value.kind)") }
    }
  }

  private func check(_ value: JSON, _ properties: [Property], _ path: String) throws(EnrollError) {
    guard let object = value.object else { throw refusal(path, "expected an object, got \(value.kind)") }
    for member in object.members {
      guard let at = properties.indices.first(where: { ASCII.equals(properties[$0].name, member.key) }) else {
        let name = PrintableText.bounded(member.key, maximumBytes: 64)
        let known = properties.isEmpty ? "there are none" : "there are \(listed(properties.map { $0.name }))"
        throw refusal(join(path, name), "unknown parameter; \(known)")
      }
      try properties[at].schema.check(member.value, path: join(path, member.key))
    }
    for at in properties.indices where properties[at].isRequired && object[properties[at].name] == nil {
      throw refusal(join(path, properties[at].name), "it is missing")
    }
  }

  private func checkTexts(_ value: JSON, _ maximumCount: Int, _ path: String) throws(EnrollError) {
    guard let object = value.object else { throw refusal(path, "expected an object, got \(value.kind)") }
    guard object.members.count <= maximumCount else {
      throw refusal(path, "expected at most \(maximumCount) members, got \(object.members.count)")
    }
    for member in object.members where member.value.string == nil {
      let name = PrintableText.bounded(member.key, maximumBytes: 64)
      throw refusal(join(path, name), "expected a string, got \(member.value.kind)")
    }
  }

  /// If no shape matches, throws the error of the nearest shape, which is the shape with the value's JSON type.
  private func check(_ value: JSON, anyOf schemas: [Schema], _ path: String) throws(EnrollError) {
    var refused: EnrollError?
    for schema in schemas {
      do throws(EnrollError) {
        return try schema.check(value, path: path)
      } catch {
        if refused == nil || schema.takesKind(of: value) { refused = error }
      }
    }
    if let refused { throw refused }
  }

  private func takesKind(of value: JSON) -> Bool {
    switch shape {
    case .text, .oneOf: value.string != nil
    case .boolean: value.bool != nil
    case .integer: value.integer != nil
    case .list: value.array != nil
    case .texts, .object, .claims, .configuration: value.object != nil
    case .anyOf(let schemas): schemas.contains { $0.takesKind(of: value) }
    }
  }

  private func refusal(_ path: String, _ text: String) -> EnrollError {
    EnrollError(.invalidArgument, "\(field(path)): \(text)", field: field(path))
  }

  private func field(_ path: String) -> String { path.utf8.isEmpty ? "params" : path }

  private func join(_ path: String, _ name: String) -> String {
    path.utf8.isEmpty ? name : "\(path).\(name)"
  }

  private func words(_ range: ClosedRange<Int64>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (.min, .max): "an integer"
    case (let low, .max): "an integer from \(low)"
    case (let low, let high): "an integer from \(low) to \(high)"
    }
  }

  private func listed(_ names: [String]) -> String {
    var text = ""
    for name in names {
      if !text.utf8.isEmpty { text += ", " }
      text += name
    }
    return text
  }
}
