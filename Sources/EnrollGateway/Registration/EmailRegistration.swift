// What registration by e-mail is made of, and how often one address may be written to or tried: a limit that is there for the person
// whose address it is, whoever asks, and from wherever.

public import EnrollCore

/// Registration and sign-in by e-mail. Any thread may use it.
public final class EmailRegistration: Sendable {
  let settings: RegistrationSettings
  let outbox: Outbox
  let directory: any Directory
  /// The same, where it is the gateway's own.
  let own: OwnDirectory?
  let hasher: PasswordHasher
  private let clock: any Clock
  private let uses: Guarded<[String: Uses]>

  private struct Uses {
    var began: Instant
    var count: Int
  }

  /// Mails to one address, and passwords tried for it, in an hour and by one replica.
  static let mailsInAnHour = 5
  static let passwordsInAnHour = 20
  private static let hour: Int64 = 3_600
  /// Addresses that are counted at once. Beyond that the oldest hour begins anew.
  private static let most = 50_000

  /// Lifetimes of links.
  static let activationSeconds: Int64 = 86_400
  static let signInSeconds: Int64 = 900
  static let resetSeconds: Int64 = 3_600

  /// - Parameter other: a directory that is not the gateway's own.
  public init(
    _ settings: RegistrationSettings, outbox: Outbox, store: any RegistrationStore,
    other: (any Directory)? = nil, hasher: PasswordHasher, clock: any Clock, makeLock: () -> any Lock
  ) {
    self.settings = settings
    self.outbox = outbox
    self.hasher = hasher
    self.clock = clock
    let own = other == nil ? OwnDirectory(store, hasher: hasher, hasPasswords: settings.hasPasswords) : nil
    self.own = own
    directory = other ?? own ?? OwnDirectory(store, hasher: hasher, hasPasswords: false)
    uses = Guarded([:], by: makeLock())
  }

  var asksForPasswords: Bool { settings.hasPasswords && directory.checksPasswords }

  enum Use: String { case mail, password }

  /// Counts one use of an address.
  /// - Returns: false when there were too many.
  func take(_ use: Use, _ email: EmailAddress) -> Bool {
    let now = clock.instant()
    let key = use.rawValue + " " + email.key
    return uses.withLock { uses in
      if uses.count >= Self.most {
        uses = uses.filter { now < $0.value.began.advanced(bySeconds: Self.hour) }
        if uses.count >= Self.most { uses = [:] }
      }
      var one = uses[key] ?? Uses(began: now, count: 0)
      if now >= one.began.advanced(bySeconds: Self.hour) { one = Uses(began: now, count: 0) }
      let most = use == .mail ? Self.mailsInAnHour : Self.passwordsInAnHour
      guard one.count < most else { return false }
      one.count += 1
      uses[key] = one
      return true
    }
  }
}
