// Fuzzes the JSON reader. An accepted text must be within the limits (R37), and its value must be the same after it was
// written and read again.

@testable import EnrollJSON

extension Target {
  static let json = [
    Target("json") { input in
      let value: JSON
      do throws(JSONError) {
        value = try JSON.parse(input)
      } catch {
        return require(!error.isOutOfMemory, "what jansson refuses is no JSON, as there is memory")
      }
      require(JSONGrammar.verdict(on: input) == .accepted, "what jansson takes is JSON")
      require(!input.contains(0), "no NUL")
      // Measures the depth a second time, to check the parser's own measurement.
      require(depth(value) <= 64, "no deeper than 64 levels (R37)")
      require(hasUniqueKeys(value), "no key twice")
      let written = value.serialized()
      guard let again = try? JSON.parse(written) else { return require(false, "what is written can be read") }
      require(again == value, "what is written reads the same")
      require(again.serialized() == written, "and is written the same")
    }
  ]

  private static func depth(_ value: JSON) -> Int {
    switch value {
    case .array(let elements): 1 + (elements.map { depth($0) }.max() ?? 0)
    case .object(let object): 1 + (object.members.map { depth($0.value) }.max() ?? 0)
    case .null, .bool, .integer, .number, .string: 0
    }
  }

  private static func hasUniqueKeys(_ value: JSON) -> Bool {
    switch value {
    case .array(let elements): elements.allSatisfy { hasUniqueKeys($0) }
    case .object(let object):
      Set(object.members.map { Array($0.key.utf8) }).count == object.members.count
        && object.members.allSatisfy { hasUniqueKeys($0.value) }
    case .null, .bool, .integer, .number, .string: true
    }
  }
}
