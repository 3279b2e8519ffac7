// Mail about an account. Whoever posts one does not wait for a mail server: the mail is in the outbox when the call returns, and
// some replica sends it, at least once.

public import EnrollGatewayPages

/// One mail, before it is words.
public struct AccountMail: Sendable, Equatable {
  /// What it tells. Links are whole addresses of the gateway.
  public enum Kind: Sendable, Equatable {
    /// The link that ends a registration (`/welcome/{activationToken}`).
    case activation(link: String)
    /// Somebody registered an address that has an account already; `signIn` is where its owner signs in.
    case accountExists(signIn: String)
    /// The link by which a person without a password signs in. `device` is the browser that asked: `Firefox on Linux`.
    case signInLink(link: String, device: String?)
    /// The link at which a forgotten password is replaced.
    case passwordReset(link: String)
    case passwordChanged
    /// One more way to sign in; `provider` is its label: `Google`.
    case identityLinked(provider: String)
    /// One way to sign in less.
    case identityUnlinked(provider: String)
    /// Two accounts became one.
    case accountsMerged
    case accountDeleted
  }

  public var kind: Kind
  public var recipient: EmailAddress
  /// In which the mail is written: that of the person's browser where a request is its cause.
  public var language: Language

  public init(_ kind: Kind, to recipient: EmailAddress, in language: Language) {
    self.kind = kind
    self.recipient = recipient
    self.language = language
  }
}

/// Takes mails. Where no mail is configured there is none: ``Gateway`` has nil, and sends nothing.
public protocol Mailer: AnyObject, Sendable {
  /// Puts the mail into the outbox.
  /// - Throws: what the store says. A notice that could not be posted is no reason to undo what it tells of: log it.
  func post(_ mail: AccountMail) throws(StoreFailure)
}
