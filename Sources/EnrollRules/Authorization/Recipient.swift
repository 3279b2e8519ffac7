// The recipient of a one-time code or a link (flows.md §6).

/// An e-mail address or a phone number, as the user gave it.
public struct Recipient: Equatable, Sendable {
  /// How a message reaches the recipient.
  public enum Connection: String, Sendable, CaseIterable {
    /// By e-mail.
    case email
    /// By a text message.
    case sms
  }

  /// How the message reaches the user.
  public var connection: Connection
  /// `alice@example.org`, or a number in the form of E.164: `+31612345678`.
  public var address: String

  public init(_ connection: Connection, address: String) {
    self.connection = connection
    self.address = address
  }
}

/// The message that a passwordless sign-in sends.
public enum PasswordlessMessage: String, Sendable, CaseIterable {
  /// A one-time code that the user types.
  case code
  /// A link that returns as a redirect.
  case link
}

extension Recipient {
  /// Makes a recipient of an e-mail address or a phone number; nil if neither is given.
  /// - Throws: `.invalidArgument` if both are given.
  public init?(email: String?, phoneNumber: String?) throws(EnrollError) {
    switch (email, phoneNumber) {
    case (let email?, nil): self.init(.email, address: email)
    case (nil, let number?): self.init(.sms, address: number)
    case (nil, nil): return nil
    case (.some, .some):
      throw EnrollError(
        .invalidArgument, "email: expected either an e-mail address or a phone number, got both",
        field: "email")
    }
  }
}

extension Recipient {
  /// Refuses an invalid address or number before anything is sent.
  /// - Throws: `.invalidArgument`, whose `field` names the option.
  func check() throws(EnrollError) {
    switch connection {
    case .email:
      guard Recipient.isAddress(address) else {
        throw EnrollError(
          .invalidArgument, "email: expected an address such as name@example.org", field: "email")
      }
    case .sms:
      guard Recipient.isNumber(address) else {
        throw EnrollError(
          .invalidArgument,
          "phoneNumber: expected + and 8 to 15 digits, without spaces, such as +31612345678 (E.164)",
          field: "phoneNumber")
      }
    }
  }

  /// Whether the text has one `@`, with text on both sides, and no character that ends an address or a header (RFC 5321
  /// §4.1.2, §4.5.3.1). Quoted local parts and address literals are refused.
  private static func isAddress(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard let at = bytes.firstIndex(of: 0x40), bytes.lastIndex(of: 0x40) == at, (1...64).contains(at) else {
      return false
    }
    let domain = bytes[(at + 1)...]
    return (1...255).contains(domain.count) && isDotted(bytes[..<at], isAtom) && isDotted(domain, isHostByte)
      && domain.split(separator: 0x2E).allSatisfy { $0.first != 0x2D && $0.last != 0x2D }
  }

  /// Whether the bytes are one or more parts with dots between them, and each part has at least one byte and only
  /// allowed bytes.
  private static func isDotted(_ bytes: ArraySlice<UInt8>, _ isAllowed: (UInt8) -> Bool) -> Bool {
    bytes.split(separator: 0x2E, omittingEmptySubsequences: false).allSatisfy {
      !$0.isEmpty && $0.allSatisfy(isAllowed)
    }
  }

  /// Whether the byte is an `atext` (RFC 5322 §3.2.3), or part of a character beyond ASCII (RFC 6531).
  private static func isAtom(_ byte: UInt8) -> Bool {
    byte >= 0x80 || ASCII.isLetter(byte) || ASCII.isDigit(byte) || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    byte >= 0x80 || ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2D
  }

  private static func isNumber(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.first == 0x2B && (9...16).contains(bytes.count) && bytes[1] != 0x30
      && bytes.dropFirst().allSatisfy(ASCII.isDigit)
  }
}
