// The hosts that may get a token, and the target for which a program wants a token.

import EnrollRules

/// `host` or `host:port` of a URL (RFC 3986 §3.2.2); an IPv6 address is in brackets.
struct CredentialHost {
  let text: String
  private let name: String
  private let port: Int?

  /// Parses a host; nil if the text is not a host.
  init?(_ text: String) {
    guard text.utf8.allSatisfy({ !"/?#@".utf8.contains($0) }), let url = try? StrictURL("https://\(text)/"),
      let name = url.hostText
    else { return nil }
    self.text = text
    self.name = name
    port = url.port
  }

  /// Whether this host and `other` have the same name. Ports do not matter.
  func isSameHost(as other: CredentialHost) -> Bool { ASCII.equalsIgnoringCase(name, other.name) }

  /// Whether this host and `other` mean the same host and port for a protocol. A missing port matches each of the
  /// protocol's usual ports.
  func isSame(as other: CredentialHost, usualPorts: [Int]) -> Bool {
    guard isSameHost(as: other) else { return false }
    switch (port, other.port) {
    case (nil, nil): return true
    case (let port?, let other?): return port == other
    case (let port?, nil), (nil, let port?): return usualPorts.contains(port)
    }
  }

  var hasPort: Bool { port != nil }

  var isLoopback: Bool { ThisMachine.isMeant(by: text) }
}

/// The target for which a program wants a token.
struct CredentialTarget {
  enum Transport {
    /// The connection is encrypted: the program names no protocol, or a protocol that is always encrypted.
    case encrypted
    /// The program's settings say whether the connection is encrypted. Without such a setting it may be unencrypted.
    case configured
    /// The program sends the token over a connection that may be unencrypted.
    case plain
  }

  let host: CredentialHost
  let scheme: String
  let transport: Transport
  let usualPorts: [Int]

  /// A URL's host with its scheme. nil for text without a host, and for a scheme that gets no token.
  init?(scheme: String, host: String) {
    guard let host = CredentialHost(host) else { return nil }
    (self.host, self.scheme) = (host, scheme)
    switch scheme {
    case "https", "grpcs": (transport, usualPorts) = (.encrypted, [443])
    case "http": (transport, usualPorts) = (.plain, [80])
    // git send-email encrypts only if sendemail.smtpEncryption says so. Without this setting, it uses port 25.
    case "smtp": (transport, usualPorts) = (.configured, [465, 587])
    case "smtps": (transport, usualPorts) = (.encrypted, [465, 587])
    case "imaps": (transport, usualPorts) = (.encrypted, [993])
    case "imap": (transport, usualPorts) = (.plain, [143])
    default: return nil
    }
  }

  /// The scheme and the host of a URL; its user name, path and query do not matter.
  init?(url: String) {
    // A backslash is refused, because it ends the host for some programs, and not for others.
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
      let (scheme, rest) = Self.split(url)
    else { return nil }
    let authority = rest.prefix { !"/?#".contains($0) }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    self.init(scheme: scheme, host: String(host))
  }

  /// The scheme and the rest of a URL; nil for text without a scheme.
  static func split(_ url: String) -> (scheme: String, rest: Substring)? {
    guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://") else { return nil }
    return (String(url[..<colon]), url[colon...].dropFirst(3))
  }
}

/// A host that the user named, with a scheme if it is for mail: `git.example`, `git.example:8443`,
/// `smtp://mail.example:587`.
struct NamedHost {
  let text: String
  let host: CredentialHost
  /// Whether a server on this machine may be used without encryption.
  var allowsLoopbackHTTP = false
  private let scheme: String?

  /// Parses a named host; nil if the text is not a host, or if it has a scheme other than `smtp`.
  init?(_ text: String) {
    self.text = text
    guard let (scheme, rest) = CredentialTarget.split(text) else {
      guard let host = CredentialHost(text) else { return nil }
      (self.host, self.scheme) = (host, nil)
      return
    }
    guard let target = CredentialTarget(scheme: scheme, host: String(rest)), target.transport == .configured
    else { return nil }
    (host, self.scheme) = (target.host, scheme)
  }

  /// Whether the user named this scheme, or no scheme.
  func allows(scheme: String) -> Bool { self.scheme == nil || self.scheme == scheme }

  /// Whether this host and `other` mean the same host and port, even if the ports are written differently. A host
  /// without a scheme means https.
  func isSamePlace(as other: NamedHost?) -> Bool {
    guard let other, let target = CredentialTarget(scheme: other.scheme ?? "https", host: other.host.text),
      case .allowed = CredentialHosts(named: [self]).answer(target)
    else { return false }
    return true
  }

  /// Whether the user's text is for one protocol only, because it has a scheme or a port.
  var isForOneProtocol: Bool { scheme != nil || host.hasPort }
}

/// The hosts that the user named.
struct CredentialHosts {
  let named: [NamedHost]
  /// Where the user named the hosts: in the option `--host`, or in the member of a profile.
  var source = "--host"

  enum Answer {
    case allowed
    /// The user did not name this host.
    case foreign
    /// The host is named, but gets no token for this reason.
    case refused(String)
  }

  /// The setting that allows http to this machine.
  private var loopbackKey: String { isOption ? "--allow-loopback-http" : "allowLoopbackHTTP" }
  private var isOption: Bool { source.hasPrefix("-") }

  func answer(_ target: CredentialTarget) -> Answer {
    let place = Shown.text("\(target.scheme)://\(target.host.text)")
    let hosts = named.filter { $0.host.isSameHost(as: target.host) }
    guard let near = hosts.first else { return .foreign }
    let ports = hosts.filter { $0.host.isSame(as: target.host, usualPorts: target.usualPorts) }
    guard let other = ports.first else {
      return .refused(
        "\(place) gets no token: \(source) names \(Shown.text(near.text)), which is another port")
    }
    let allowed = ports.filter { $0.allows(scheme: target.scheme) }
    guard !allowed.isEmpty else {
      return .refused(
        "\(place) gets no token: \(source) names \(Shown.text(other.text)), which is another protocol")
    }
    switch target.transport {
    case .plain where !(target.host.isLoopback && allowed.contains { $0.allowsLoopbackHTTP }):
      let advice = target.host.isLoopback ? "; \(loopbackKey) allows it" : ""
      return .refused("\(place) gets no token, because the connection is not encrypted\(advice)")
    case .configured where !allowed.contains(where: { $0.isForOneProtocol }):
      return .refused(
        "\(place) gets no token, because the connection may not be encrypted; \(isOption ? "--host \(place)" : "the host \(place) in \(source)") allows it"
      )
    case .encrypted, .configured, .plain: return .allowed
    }
  }
}
