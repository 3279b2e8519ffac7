// Who gets a one-time code or a link (flows.md §6).

/// An e-mail address or a phone number, as the user gave it.
public struct Recipient: Equatable, Sendable {
  public enum Connection: String, Sendable, CaseIterable { case email, sms }

  /// What is sent.
  public enum Message: String, Sendable, CaseIterable {
    /// A one-time code that the user types.
    case code
    /// A link that comes back as a redirect.
    case link
  }

  public var connection: Connection
  /// `alice@example.org`, or a number in the form of E.164: `+31612345678`.
  public var address: String

  public init(_ connection: Connection, address: String) {
    self.connection = connection
    self.address = address
  }
}

extension Recipient {
  /// nil when neither is given.
  /// - Throws: `.invalidArgument` when both are.
  public init?(email: String?, phoneNumber: String?) throws(EnrollError) {
    switch (email, phoneNumber) {
    case (let email?, nil): self.init(.email, address: email)
    case (nil, let number?): self.init(.sms, address: number)
    case (nil, nil): return nil
    case (.some, .some):
      throw EnrollError(
        .invalidArgument, "email: either an e-mail address or a phone number was expected, both came",
        field: "email")
    }
  }
}
