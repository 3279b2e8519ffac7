// The id that the sender gives a request: a string or an integer (R38).

import EnrollRules
import EnrollJSON

enum MessageID: Sendable {
  case text(String)
  case number(Int64)

  /// Reads an id; nil for JSON that is neither a string nor an integer, such as a fraction, null or true.
  init?(_ json: JSON) {
    switch json {
    case .string(let text): self = .text(text)
    case .integer(let number): self = .number(number)
    case .null, .bool, .number, .array, .object: return nil
    }
  }

  var json: JSON {
    switch self {
    case .text(let text): .string(text)
    case .number(let number): .integer(number)
    }
  }

  func isSame(as other: MessageID) -> Bool {
    switch (self, other) {
    case (.text(let left), .text(let right)): ASCII.equals(left, right)
    case (.number(let left), .number(let right)): left == right
    case (.text, .number), (.number, .text): false
    }
  }
}
