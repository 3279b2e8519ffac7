// What registration by e-mail is made of.

/// Registration and sign-in by e-mail. Any thread may use it.
public final class EmailRegistration: Sendable {
  let settings: RegistrationSettings
  let outbox: Outbox
  let directory: any Directory
  /// The same, where it is the gateway's own.
  let own: OwnDirectory?
  let hasher: PasswordHasher

  /// Lifetimes of links.
  static let activationSeconds: Int64 = 86_400
  static let signInSeconds: Int64 = 900
  static let resetSeconds: Int64 = 3_600

  /// - Parameter other: a directory that is not the gateway's own.
  public init(
    _ settings: RegistrationSettings, outbox: Outbox, store: any RegistrationStore,
    other: (any Directory)? = nil, hasher: PasswordHasher
  ) {
    self.settings = settings
    self.outbox = outbox
    self.hasher = hasher
    let own = other == nil ? OwnDirectory(store, hasher: hasher, hasPasswords: settings.hasPasswords) : nil
    self.own = own
    directory = other ?? own ?? OwnDirectory(store, hasher: hasher, hasPasswords: false)
  }

  var asksForPasswords: Bool { settings.hasPasswords && directory.checksPasswords }
}
