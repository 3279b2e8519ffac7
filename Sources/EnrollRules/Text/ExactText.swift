// Types for texts such as issuers and client ids, so that a text of one type cannot be used in place of a text of
// another type. They are compared byte for byte, as protocols require; `String ==` compares by canonical equivalence.

/// A name or an identifier. Two of them are equal only if their bytes are the same.
public protocol ExactText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text.
  var text: String { get }

  /// Accepts any text; its validity is checked only when it is used.
  init(_ text: String)
}

extension ExactText {
  public init(stringLiteral text: String) { self.init(text) }

  public static func == (left: Self, right: Self) -> Bool { ASCII.equals(left.text, right.text) }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }

  public var description: String { text }
}
