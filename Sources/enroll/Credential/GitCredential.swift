// git's credential helper (gitcredentials(7), git-credential(1)).

import EnrollArguments
import EnrollRules

extension CredentialFormat {
  static let git = CredentialFormat(
    name: "git", programs: "git over https, git-lfs, git send-email, git imap-send",
    setup: """
      enroll setup git git.example writes this into git's configuration, behind all other helpers, and shows its commands \
      first. By hand:

        git config --global credential.https://git.example.helper ''
        git config --global --add credential.https://git.example.helper '!enroll credential git --host git.example'

      The empty line comes first, and both have to come after every other helper, such as those in a section [credential]. \
      Otherwise git gives the token to the other helpers, too, and credential.helper store writes it into a file. If the host rejects the token, git reports it, and the next token is a \
      new one.

      git send-email encrypts only if it is told to, so its server gets a token only if --host names the protocol or the port:

        git config --global sendemail.smtpEncryption tls
        git config --global credential.smtp://mail.example:587.helper ''
        git config --global --add credential.smtp://mail.example:587.helper '!enroll credential git --host smtp://mail.example:587'
      """,
    alias: "git-credential-enroll",
    arguments: [
      Parameter.operand(
        "operation", help: "git's operation: get, store or erase. git adds it.",
        completion: .words(["get", "store", "erase"])
      ).argument
    ], hasUsername: true
  ) { call in
    GitQuestion(CredentialInput.all())?.question(call) ?? CredentialQuestion(wish: .none)
  }
}

/// git's question, with one `key=value` in each line (git-credential(1)).
struct GitQuestion {
  private var scheme: String?
  private var host: String?
  private var username: String?
  private var password: String?
  private var authtype: String?
  private var credential: String?
  /// Whether git understands `authtype` and `credential` (git 2.46).
  private var knowsAuthtype = false
  private var challenges: [String] = []

  /// Parses a question; nil if the input is not UTF-8.
  init?(_ bytes: [UInt8]) {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    // The text is split by bytes, because CR and LF together are one Character.
    for var line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      // A blank line ends the question.
      guard !line.isEmpty else { break }
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let value = String(decoding: line[(equals + 1)...], as: UTF8.self)
      switch String(decoding: line[..<equals], as: UTF8.self) {
      case "protocol": scheme = value
      case "host": host = value
      case "username": username = value
      case "password": password = value
      case "authtype": authtype = value
      case "credential": credential = value
      case "capability[]": knowsAuthtype = knowsAuthtype || value == "authtype"
      case "wwwauth[]": challenges.append(value)
      default: break
      }
    }
  }

  func question(_ call: CredentialCall) -> CredentialQuestion {
    guard let scheme, let host, let target = CredentialTarget(scheme: scheme, host: host) else {
      return CredentialQuestion(wish: .none)
    }
    switch call.word(0) {
    case "get":
      return CredentialQuestion(
        wish: .token, target: target, answer: { answer($0, username ?? $1) },
        // After `quit=1` git does not ask another helper or the user, because they have no password for this host.
        failed: { _ in "quit=1\n" })
    case "erase":
      guard let refused else { return CredentialQuestion(wish: .none) }
      return CredentialQuestion(wish: .rejected(refused), target: target)
    default: return CredentialQuestion(wish: .none)
    }
  }

  private func answer(_ token: BearerToken, _ username: String) -> String {
    let end = token.expiresAt.map { "password_expiry_utc=\($0)\n" } ?? ""
    guard knowsAuthtype, isHTTP else { return "username=\(username)\npassword=\(token.text)\n" + end }
    let credential =
      takesBearer
      ? "authtype=Bearer\ncredential=\(token.text)\n"
      : "authtype=Basic\ncredential=\(Base64.encode(Array("\(username):\(token.text)".utf8)))\n"
    // git does not give an ephemeral credential to helpers that would store it.
    return "capability[]=authtype\n" + credential + "ephemeral=1\n" + end
  }

  private var isHTTP: Bool { scheme == "https" || scheme == "http" }

  /// Whether the server accepts a Bearer token, or did not say what it accepts.
  private var takesBearer: Bool {
    challenges.isEmpty || challenges.contains { ASCII.equalsIgnoringCase(Self.scheme(of: $0), "Bearer") }
  }

  private static func scheme(of challenge: String) -> String { String(challenge.prefix { $0 != " " }) }

  /// The token that the server refused.
  private var refused: String? {
    if let password { return password }
    guard let credential else { return nil }
    guard let authtype, ASCII.equalsIgnoringCase(authtype, "Basic") else { return credential }
    let unpadded = credential.prefix { $0 != "=" }
    let word = String(unpadded.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    guard let bytes = Base64URL.decode(word), let text = String(validating: bytes, as: UTF8.self),
      let colon = text.firstIndex(of: ":")
    else { return nil }
    return String(text[text.index(after: colon)...])
  }
}
