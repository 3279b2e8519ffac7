// The profile of a resource: the name under which `login --resource` saves it, and `token --resource` finds it.

import EnrollCommands
import EnrollRules
import EnrollJSON
import EnrollPosix

enum ResourceProfile {
  /// The profile's name: the resource's host, so that people recognise it, and a number that differs for the resources
  /// of one host. The profile itself names its resource.
  static func name(of resource: String) -> String {
    let host = (try? StrictURL(resource))?.hostText ?? "resource"
    let plain = host.utf8.map { byte -> UInt8 in
      ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2E || byte == 0x2D ? byte : 0x2D
    }
    let digits = String(hash(resource) & 0xFFFF_FFFF, radix: 16)
    return String(decoding: plain.prefix(55), as: UTF8.self) + "-"
      + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// A loopback redirect URI with a port, because many servers compare redirect URIs with their ports. The
  /// port is the same for every sign-in, so that a client is registered once. It is below the range from
  /// which systems assign ports.
  static func redirectURI(of resource: String) -> String { redirectURI(of: resource, try: 0) }

  /// ``redirectURI(of:)``, followed by other redirect URIs in case another program uses its port.
  static func redirectURIs(of resource: String) -> [String] {
    (0..<16).map { redirectURI(of: resource, try: $0) }
  }

  private static func redirectURI(of resource: String, try number: UInt64) -> String {
    "http://127.0.0.1:\(20_000 + ((hash(resource) >> 32) + number * 751) % 12_000)/callback"
  }

  /// Whether the profile exists and is for this resource.
  static func exists(for resource: String) -> Bool {
    (try? UserDirectories.configuration(name(of: resource))).map {
      serves(ConfigurationDocument($0), resource)
    } ?? false
  }

  /// Whether the user has a profile for this authorization server. If so, the user has signed in there before.
  static func names(_ issuer: String) -> Bool {
    Candidates.allProfiles.contains { name in
      guard let document = try? UserDirectories.configuration(name),
        let known = ConfigurationDocument(document).shownIssuer
      else { return false }
      return ASCII.equals(known, issuer)
    }
  }

  /// Whether a configuration is for this resource, or for all resources of its host.
  static func serves(_ configuration: ConfigurationDocument, _ resource: String) -> Bool {
    guard let named = configuration.resource else { return false }
    let identifier = try? ResourceIdentifier(resource, allowsLoopbackHTTP: true)
    return identifier?.isServed(by: named) ?? (named == resource)
  }

  /// A label that is used in the names of files.
  static func label(_ text: String) -> UInt64 { hash(text) }

  /// FNV-1a, 64 bits. It is only a label, and protects nothing.
  private static func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

extension PlaceOptions {
  /// These options with the profile of a resource, if the user named no other configuration.
  /// - Parameter mustExist: whether only an existing profile counts.
  func at(
    _ resource: String?, mustExist: Bool, _ environment: Environment = .process
  ) -> PlaceOptions {
    guard let resource, !namesConfiguration(environment), !mustExist || ResourceProfile.exists(for: resource)
    else { return self }
    var options = self
    options.profile = ResourceProfile.name(of: resource)
    options.resource = resource
    return options
  }
}

extension CommandSession {
  /// Checks that a user has signed in at the resource that the command line names: the session of another resource
  /// would be the wrong one.
  func requireSignIn(at resource: String?) throws(Failure) {
    guard let resource, try !hasProfile(of: resource) else { return }
    throw Failure(
      .signInNeeded, "nobody has signed in at the resource \(Shown.text(resource))",
      advice: "Run \(.loginAtResource) once.")
  }

  /// Whether a configuration is for the resource that the command line names; true if the command line names no
  /// resource.
  /// - Throws: for a text that cannot name a resource, and if the user named the configuration of another resource.
  func hasProfile(of resource: String?) throws(Failure) -> Bool {
    guard let resource else { return true }
    try Failure.wrapping { () throws(EnrollError) in
      try TextLimits.check(resource, "resource", TextLimits.url)
    }
    let configuration = try place.hasConfiguration() ? self.configuration() : nil
    if let configuration, ResourceProfile.serves(configuration, resource) { return true }
    if let configuration, namesConfiguration {
      throw Failure(
        .usage,
        "\(place.configurationName) is for \(configuration.resource.map { Shown.text($0) } ?? "no resource"), not \(Shown.text(resource))",
        advice:
          "Leave out --profile, --config, ENROLL_PROFILE and ENROLL_CONFIG: enroll finds the resource's own profile."
      )
    }
    // The advice names the resource, so it must be a resource that `login` accepts.
    _ = try Failure.wrapping { () throws(EnrollError) in
      try ResourceIdentifier(resource, allowsLoopbackHTTP: true)
    }
    return false
  }
}
