// E-mail about an account. The caller does not wait for a mail server: the e-mail is in the outbox when the call
// returns, and later a replica sends it, at least once.

public import EnrollGatewayPages

/// One e-mail, before its text is written.
public struct AccountMail: Sendable, Equatable {
  /// The content of the e-mail. Links are absolute URLs of the gateway.
  public enum Kind: Sendable, Equatable {
    /// The link that completes a registration (`/welcome/{activationToken}`).
    case activation(link: String)
    /// Somebody tried to register an address that already has an account; `signIn` is the page where its owner can sign in.
    case accountExists(signIn: String)
    /// The link with which a user without a password signs in. `device` is the browser that asked for the link, such as
    /// `Firefox on Linux`.
    case signInLink(link: String, device: String?)
    /// The link for replacing a forgotten password.
    case passwordReset(link: String)
    case passwordChanged
    /// An identity was linked; `provider` is the provider's label: `Google`.
    case identityLinked(provider: String)
    /// An identity was unlinked.
    case identityUnlinked(provider: String)
    /// Two accounts were merged.
    case accountsMerged
    case accountDeleted
  }

  public var kind: Kind
  public var recipient: EmailAddress
  /// The language of the e-mail: the language of the browser that caused the e-mail.
  public var language: Language

  public init(_ kind: Kind, to recipient: EmailAddress, in language: Language) {
    self.kind = kind
    self.recipient = recipient
    self.language = language
  }
}

/// Queues e-mails. If no mail is configured, ``Gateway`` has no mailer, and sends nothing.
public protocol Mailer: AnyObject, Sendable {
  /// Puts the e-mail into the outbox.
  /// - Throws: the failure of the store. If a notice cannot be queued, the caller logs the failure, and does not undo
  ///   the change that the notice is about.
  func post(_ mail: AccountMail) throws(StoreFailure)
}
