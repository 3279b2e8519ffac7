// Makes the parts for mail and registration from their settings.

import EnrollRules
import EnrollSteps
import EnrollGateway
import EnrollGatewayMail
import EnrollGatewayPages
import EnrollPosix

extension Setup {
  /// The outbox for e-mails; nil if no mail is configured.
  func outbox(
    _ store: any AccountStore, _ keys: KeyRing, _ pages: Pages, _ log: any LogHandler,
    _ delivery: MailDelivery, _ metrics: GatewayMetrics? = nil
  ) -> Outbox? {
    settings.mail.map {
      Outbox(
        $0, store: store, keys: keys, pages: pages, clock: clock, random: SystemRandomSource(), log: log,
        makeLock: { Mutex() }, metrics: metrics, onQueued: { delivery.wake() })
    }
  }

  /// The client of the mail server; nil if no mail is configured.
  /// - Throws: `.unsupported` if libcurl is not installed.
  func mailTransport() throws(EnrollError) -> SMTPClient? {
    guard let mail = settings.mail, let url = try? StrictURL(settings.publicURL) else { return nil }
    return try SMTPClient(mail, name: Self.host(of: url.shownOrigin))
  }

  private static func host(of origin: String) -> String {
    let rest = origin.utf8.drop { $0 != 0x2F }.drop { $0 == 0x2F }
    return String(Substring(rest.prefix { $0 != 0x3A }))
  }

  /// Registration by e-mail; nil if users cannot register by e-mail.
  func registration(_ store: any AccountStore, _ outbox: Outbox?) -> EmailRegistration? {
    guard let registration = settings.registration, let outbox else { return nil }
    return EmailRegistration(
      registration, outbox: outbox, store: store, other: otherDirectory(),
      hasher: PasswordHasher(gate: PasswordGate(), random: SystemRandomSource()))
  }
}
