// Texts that stand for one thing each, so that none takes another's place. They are compared byte for byte, as protocols
// want; `String ==` compares by canonical equivalence.

/// A text that is a name of something, and equal to no other spelling of it.
public protocol ExactText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name as it is written.
  var text: String { get }

  /// Takes any text: whether something has that name shows where it is used.
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
