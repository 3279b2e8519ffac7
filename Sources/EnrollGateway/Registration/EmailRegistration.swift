// The parts of registration by e-mail.

/// Registration and sign-in by e-mail. Any thread may use it.
public final class EmailRegistration: Sendable {
  let settings: RegistrationSettings
  let outbox: Outbox
  let directory: any Directory
  /// The directory, if it is the gateway's own; otherwise nil.
  let own: OwnDirectory?
  let hasher: PasswordHasher

  /// How long links are valid.
  static let activationSeconds: Int64 = 86_400
  static let signInSeconds: Int64 = 900
  static let resetSeconds: Int64 = 3_600

  /// - Parameter other: the directory, if it is not the gateway's own.
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
