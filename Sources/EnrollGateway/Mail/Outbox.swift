// E-mails stay in the database until a mail server has accepted them: a crash loses no e-mail, and no request waits for
// a mail server. The e-mails are sealed, because they contain links. Any replica sends e-mails that are due. An e-mail
// is sent at least once, not exactly once: if it was sent but could not be removed, it is sent again with the same
// Message-ID.

import EnrollRules
public import EnrollSteps
import EnrollCrypto
public import EnrollGatewayPages
import EnrollJSON

/// Sends one message to a mail server.
public protocol MailTransport: AnyObject, Sendable {
  /// Blocks, for at most ``Outbox/leaseSeconds``.
  func send(_ message: MailMessage) -> MailOutcome
}

/// The result of sending a message.
public enum MailOutcome: Sendable, Equatable {
  case sent
  /// The server refused the message permanently (RFC 5321 §4.2.1, 5yz), so another attempt would get the same answer.
  case refused(String)
  /// Failed temporarily.
  case failed(String)
}

public final class Outbox: Mailer {
  private let settings: MailSettings
  private let store: any RegistrationStore
  private let pages: Pages
  private let clock: any Clock
  private let random: any RandomSource
  private let log: any LogHandler
  private let ring: Guarded<KeyRing>
  private let onQueued: @Sendable () -> Void
  private let metrics: GatewayMetrics?

  /// How long an e-mail belongs to the replica that has taken it, in seconds. Until then no other replica sends the
  /// e-mail.
  public static let leaseSeconds: Int64 = 120
  /// Notices expire after this time.
  static let noticeSeconds: Int64 = 3 * 86_400
  /// The pause between attempts: half a minute, doubled each time, at most an hour.
  private static let firstPauseSeconds: Int64 = 30
  public static let longestPauseSeconds: Int64 = 3_600

  /// Makes an outbox over the tables of the store.
  /// - Parameters:
  ///   - metrics: counts the results.
  ///   - onQueued: called after an e-mail was queued, so that the sender can start.
  public init(
    _ settings: MailSettings, store: any RegistrationStore, keys: KeyRing, pages: Pages, clock: any Clock,
    random: any RandomSource, log: any LogHandler, makeLock: () -> any Lock,
    metrics: GatewayMetrics? = nil, onQueued: @escaping @Sendable () -> Void = {}
  ) {
    self.settings = settings
    self.store = store
    self.pages = pages
    self.clock = clock
    self.random = random
    self.log = log
    self.onQueued = onQueued
    self.metrics = metrics
    ring = Guarded(keys, by: makeLock())
  }

  /// Uses these keys from now on.
  public func reload(_ keys: KeyRing) { ring.withLock { $0 = keys } }

  public func post(_ mail: AccountMail) throws(StoreFailure) {
    let now = clock.wallTime()
    try store.keep(nil, mail: try sealed(mail, expires: now + Self.noticeSeconds), at: now)
    onQueued()
  }

  /// Stores the link together with its e-mail.
  func post(_ mail: AccountMail, with link: NewMailLink) throws(StoreFailure) {
    try store.keep(link, mail: try sealed(mail, expires: link.expires), at: clock.wallTime())
    onQueued()
  }

  private func sealed(_ mail: AccountMail, expires: UnixTime) throws(StoreFailure) -> NewMail {
    let now = clock.wallTime()
    do throws(EnrollError) {
      let id = MailID(at: now, random: try random.bytes(MailID.randomByteCount))
      let boundary = Base64URL.encode(try random.bytes(18)).utf8
        .map { ASCII.isLetter($0) || ASCII.isDigit($0) ? String(UnicodeScalar($0)) : "x" }.joined()
      let message = MailMessage(
        pages.mail(try MailPage(about: mail.kind), in: mail.language), from: settings,
        product: pages.theme.product, to: mail.recipient, language: mail.language, id: id.text,
        boundary: boundary, at: now)
      let ring = ring.withLock { $0 }
      let sealed = try ring.seal(Secret(message.json.serialized()), for: .mail, at: now, random: random)
      return NewMail(id: id, sealed: sealed, expires: expires)
    } catch {
      throw .fault("a mail could not be made: \(error.message)")
    }
  }

  /// Sends e-mails that are due.
  /// - Returns: how many e-mails were taken; 0 if no e-mail is due.
  public func send(by transport: any MailTransport, most: Int = 1) throws(StoreFailure) -> Int {
    let taken = try store.takeMails(most, leaseSeconds: Self.leaseSeconds, at: clock.wallTime())
    for mail in taken { try send(mail, by: transport) }
    return taken.count
  }

  private func send(_ mail: TakenMail, by transport: any MailTransport) throws(StoreFailure) {
    guard clock.wallTime() < mail.expires else {
      metrics?.handled(.expired)
      log.write(.error, "mail \(mail.id): given up after \(mail.attempts - 1) tries")
      return try store.removeMail(mail.id)
    }
    let ring = ring.withLock { $0 }
    guard let opened = ring.open(mail.sealed, for: .mail), let json = try? JSON.parse(opened.revealBytes()),
      let message = MailMessage(json: json)
    else {
      // This replica may not have loaded a new key yet. Another replica may have that key, and can send the e-mail.
      log.write(.error, "mail \(mail.id): no key of the key file opens it")
      return try putOff(mail)
    }
    switch transport.send(message) {
    case .sent:
      metrics?.handled(.sent)
      try store.removeMail(mail.id)
      log.write(.info, "mail \(mail.id): sent")
    case .refused(let reason):
      metrics?.handled(.refused)
      log.write(.error, "mail \(mail.id): the mail server refused it for good: \(reason)")
      try store.removeMail(mail.id)
    case .failed(let reason):
      metrics?.handled(.failed)
      log.write(.warning, "mail \(mail.id): try \(mail.attempts): \(reason)")
      try putOff(mail)
    }
  }

  private func putOff(_ mail: TakenMail) throws(StoreFailure) {
    let doublings = min(max(mail.attempts - 1, 0), 10)
    let pause = min(Self.firstPauseSeconds << doublings, Self.longestPauseSeconds)
    try store.putOffMail(mail.id, until: clock.wallTime() + pause)
  }
}

extension MailPage {
  /// Makes the content of the e-mail from its kind.
  /// - Throws: `.internal` for a URL that an e-mail must not contain.
  fileprivate init(about kind: AccountMail.Kind) throws(EnrollError) {
    func link(_ text: String) throws(EnrollError) -> PageLink {
      do { return try PageLink(web: text) } catch {
        throw EnrollError(.internal, error.message)
      }
    }
    switch kind {
    case .activation(let text): self.init(.activation, link: try link(text))
    case .accountExists(let text): self.init(.accountExists, link: try link(text))
    case .signInLink(let text, let device): self.init(.signInLink, link: try link(text), device: device)
    case .passwordReset(let text): self.init(.passwordReset, link: try link(text))
    case .passwordChanged: self.init(.passwordChanged)
    case .identityLinked(let provider): self.init(.identityLinked, provider: provider)
    case .identityUnlinked(let provider): self.init(.identityUnlinked, provider: provider)
    case .accountsMerged: self.init(.accountsMerged)
    case .accountDeleted: self.init(.accountDeleted)
    }
  }
}
