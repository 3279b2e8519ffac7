// A credential helper for git (gitcredentials(7)): git asks for a password, and gets a token if a
// command-line option names the host.

import CPosix
import EnrollArguments
import EnrollRules
import EnrollCrypto
import EnrollHost

struct GitCredential: EnrollCommand {
  private static let allowedHosts = Parameter.repeated(
    "host", value: "host", help: "A host that receives the token, with its port if it has one. Repeatable.")
  private static let defaultUsername = Parameter.option(
    "username", value: "name", help: "The user name to return if git names none.", default: "oauth2")
  private static let loopbackHTTP = Parameter.flag(
    "allow-loopback-http", help: "Also allow http to a git server on this machine.")
  private static let gitOperation = Parameter.operand(
    "operation", help: "git's operation: get, store or erase. git adds it.",
    completion: .words(["get", "store", "erase"]))

  static let command = Command(
    "git-credential", "Give git a valid access token as its password, for the hosts that you name.",
    discussion: """
        git config --global credential.https://git.example.helper '!enroll git-credential --host git.example'

      git then asks for a token whenever it needs a password for that host, and reports when the host rejects it. A host \
      that you do not name gets nothing, however git is configured.
      """,
    arguments: [
      allowedHosts.argument, defaultUsername.argument, loopbackHTTP.argument, gitOperation.argument,
    ], groups: [ContextOptions.group], action: run)

  let place: PlaceOptions
  private let hosts: [String]
  private let username: String
  private let allowsHTTP: Bool
  private let operation: String

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    hosts = values[Self.allowedHosts]
    username = values[Self.defaultUsername]
    allowsHTTP = values[Self.loopbackHTTP]
    operation = values[Self.gitOperation]
    if hosts.isEmpty {
      throw UsageError("No host is named. The token goes to those alone that --host names.")
    }
    if let host = hosts.first(where: { !Self.isHost($0) }) {
      throw UsageError(
        "--host expects a host as git names it, such as git.example or git.example:8443; got \(PrintableText.bounded(host, maximumBytes: 100))."
      )
    }
    if username.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw UsageError("--username must be one line of text.")
    }
  }

  /// `host` or `host:port` of a URL (RFC 3986 §3.2.2); an IPv6 address is in brackets.
  private static func isHost(_ text: String) -> Bool {
    text.utf8.allSatisfy { !"/?#@".utf8.contains($0) } && (try? StrictURL("https://\(text)/")) != nil
  }

  private var token: TokenCommand { TokenCommand(place: place) }
  var request: CommandRequest {
    var request = token.request
    request.attempt = ["git-credential"]
    return request
  }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    guard let asked = GitQuestion(Self.input()), asked.isFor(hosts, allowsHTTP: allowsHTTP) else {
      return .done
    }
    switch operation {
    case "get":
      let token = try token.require(session).token
      Output.line("username=\(asked.username ?? username)")
      Output.line("password=\(token.text)")
      if let end = token.expiresAt { Output.line("password_expiry_utc=\(end)") }
    case "erase":
      // The host rejected the token, so the next token will be new.
      guard let refused = asked.password else { break }
      let client = try session.open()
      _ = try session.run { cancellation throws(EnrollError) in
        try client.rejected(Secret(refused), until: client.usualDeadline, cancellation: cancellation)
      }
    default: break
    }
    return .done
  }

  /// The input from git, up to a limit.
  private static func input() -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while bytes.count < 1 << 20, Interrupts.wait(for: STDIN_FILENO) {
      let count = piece.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
      if count < 0, [EINTR, EAGAIN].contains(enroll_posix_errno()) { continue }
      guard count > 0 else { break }
      bytes += piece[..<count]
    }
    return bytes
  }
}

/// git's question for a password, with one `key=value` in each line (git-credential(1)).
struct GitQuestion {
  var isHTTP = false
  var isHTTPS = false
  var host: String?
  var username: String?
  var password: String?

  /// nil if the input is not UTF-8.
  init?(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    for line in text.split(separator: "\n") {
      guard let equals = line.firstIndex(of: "=") else { continue }
      let value = String(line[line.index(after: equals)...])
      switch line[..<equals] {
      case "protocol": (isHTTP, isHTTPS) = (value == "http", value == "https")
      case "host": host = value
      case "username": username = value
      case "password": password = value
      default: break
      }
    }
  }

  /// Whether the token may be sent to this host.
  func isFor(_ hosts: [String], allowsHTTP: Bool) -> Bool {
    guard let host, hosts.contains(where: { ASCII.equalsIgnoringCase($0, host) }) else { return false }
    return isHTTPS || isHTTP && allowsHTTP && ThisMachine.isMeant(by: host)
  }
}
