// Types for texts such as issuers and client ids, so that none can be used in place of another. They are compared byte
// for byte, as protocols require; `String ==` compares by canonical equivalence.

/// A name or an identifier that is equal only to the same bytes.
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
