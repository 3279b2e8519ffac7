// The parts of the configuration for users who register by e-mail: the mail server, and the rules of registration.

import EnrollRules
import EnrollJSON

/// The mail server and the sender.
public struct MailSettings: Sendable, Equatable {
  /// `smtp://host:587` with STARTTLS, or `smtps://host:465` with implicit TLS.
  public let server: String
  /// Whether the connection uses no TLS. This is allowed only for a mail server on this machine.
  public let isUnencrypted: Bool
  public let from: EmailAddress
  /// The sender's display name; the product's name by default.
  public let fromName: String?
  public let user: String?
  public let password: String?
  /// A file with the PEM certificates that are trusted instead of the system's.
  public let caFile: String?

  static let keys: [ConfigurationKey] = [
    ConfigurationKey(
      "server", .text, required: true,
      "smtp://HOST:587, which then needs STARTTLS, or smtps://HOST:465 for implicit TLS."),
    ConfigurationKey("from", .text, required: true, "The sender's address."),
    ConfigurationKey("fromName", .text, "The sender's name. theme.product by default."),
    ConfigurationKey("user", .text, "The user name at the mail server."),
    ConfigurationKey(
      "password", .text, "The password at the mail server. Use passwordFile, the path of a file, instead."),
    ConfigurationKey("caFile", .text, "PEM certificates to trust instead of the system's."),
    ConfigurationKey(
      "unencrypted", .boolean,
      "Use no TLS. Only for a mail server on this machine (127.0.0.1, [::1], localhost). False by default."),
  ]

  /// - Throws: `.configuration`.
  init(json: JSON) throws(EnrollError) {
    let reader = try ConfigurationReader(json, keys: Self.keys, path: "mail")
    server = reader.text("server") ?? ""
    isUnencrypted = reader.boolean("unencrypted") ?? false
    let host = Self.host(of: server)
    guard let host else {
      throw Self.refusal("server", "expected smtp://HOST:PORT or smtps://HOST:PORT")
    }
    guard !isUnencrypted || ["127.0.0.1", "[::1]", "localhost"].contains(host) else {
      throw Self.refusal("unencrypted", "expected a mail server on this machine")
    }
    do throws(EmailAddress.Refusal) { from = try EmailAddress(reader.text("from") ?? "") } catch {
      throw Self.refusal("from", "expected an e-mail address, such as accounts@example.com")
    }
    fromName = reader.text("fromName")
    user = reader.text("user")
    password = reader.text("password")
    caFile = reader.text("caFile")
    for (field, text) in [("fromName", fromName), ("user", user), ("password", password)] {
      guard text?.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) ?? true else {
        throw Self.refusal(field, "expected a text without control characters")
      }
      guard text != "" else { throw Self.refusal(field, "expected a text that is not empty") }
    }
    guard (user == nil) == (password == nil) else {
      throw Self.refusal("user", "expected a user with a password, or neither")
    }
  }

  private static func refusal(_ field: String, _ text: String) -> EnrollError {
    EnrollError(.configuration, "mail.\(field): \(text)", field: "mail.\(field)")
  }

  /// The host of a mail server's URL; nil if the URL is invalid.
  private static func host(of server: String) -> String? {
    guard
      let scheme = ["smtp://", "smtps://"].first(where: { server.utf8.starts(with: $0.utf8) })
    else { return nil }
    let rest = Array(server.utf8.dropFirst(scheme.utf8.count))
    let end: Int
    if rest.first == 0x5B {
      guard let bracket = rest.firstIndex(of: 0x5D) else { return nil }
      end = bracket + 1
      guard rest[1..<bracket].allSatisfy({ isHex($0) || $0 == 0x3A || $0 == 0x2E }) else { return nil }
    } else {
      end = rest.firstIndex(of: 0x3A) ?? rest.count
      guard end > 0,
        rest[..<end].allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2D || $0 == 0x2E })
      else { return nil }
    }
    let port = rest[end...]
    guard port.isEmpty || port.first == 0x3A else { return nil }
    let digits = String(decoding: port.dropFirst(), as: UTF8.self)
    let number: UInt16? = ASCII.number(digits)
    guard port.isEmpty || number ?? 0 > 0 else { return nil }
    return String(decoding: rest[..<end].map { ASCII.lowercased($0) }, as: UTF8.self)
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    ASCII.isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }
}

/// How users register and sign in by e-mail.
public struct RegistrationSettings: Sendable, Equatable {
  /// Whether users can sign in with a password, not only with mailed links.
  public let hasPasswords: Bool
  /// Whether anyone with an e-mail address can create an account.
  public let isOpen: Bool

  static let keys: [ConfigurationKey] = [
    ConfigurationKey(
      "passwords", .boolean,
      "Users choose a password and sign in with it. Without it, they sign in with a link sent by e-mail. False by default."
    ),
    ConfigurationKey(
      "open", .boolean, "Anyone who verifies an e-mail address gets an account. True by default."),
  ]

  /// The name of e-mail sign-in in `/v1/auth/email` and in identities.
  static let providerName = "email"

  /// - Throws: `.configuration`.
  init(json: JSON) throws(EnrollError) {
    let reader = try ConfigurationReader(json, keys: Self.keys, path: "registration")
    hasPasswords = reader.boolean("passwords") ?? false
    isOpen = reader.boolean("open") ?? true
  }
}
