// The hosts that a profile names in `credentialHosts`. Some programs start a credential helper without arguments.
// There is then no `--host`, and the profile names the hosts that get its token.

import EnrollArguments
import EnrollJSON
import EnrollPosix
import EnrollRules

/// One object of `credentialHosts`.
struct ProfileHost {
  let host: NamedHost
  /// The names of the credential formats for which the host gets the token.
  let formats: [String]
  let username: String?
  /// The resource that the token is for. The resource may have its own profile.
  let resource: String?
  let account: String?
  /// The name of the profile.
  let profile: String

  private enum Key: String, CaseIterable {
    case host, username, resource, account
    case formats = "for"
  }

  /// An invalid object in `credentialHosts`. The profile counts as not naming the object's host.
  struct Invalid {
    /// The host in the object; nil if the text is not a host.
    let host: NamedHost?
    /// Whether the object may be for a format. If the object names an unknown format, that may be a misspelling of this
    /// format.
    let isFor: @Sendable (_ format: String) -> Bool
    let failure: Failure
  }

  /// The objects in the member `credentialHosts` of a profile's file.
  /// - Throws: `.usage` if one of them is invalid.
  static func all(of document: ConfigurationDocument, _ profile: String) throws(Failure) -> [ProfileHost] {
    let read = read(document, profile)
    if let invalid = read.invalid.first { throw invalid.failure }
    return read.hosts
  }

  /// The valid and the invalid objects in the member `credentialHosts` of a profile's file.
  static func read(
    _ document: ConfigurationDocument, _ profile: String
  ) -> (hosts: [ProfileHost], invalid: [Invalid]) {
    guard let list = document.credentialHosts else { return ([], []) }
    guard let objects = list.array else {
      return (
        [], [Invalid(host: nil, isFor: { _ in true }, failure: refusal(profile, "", "a list of objects"))]
      )
    }
    var hosts: [ProfileHost] = []
    var invalid: [Invalid] = []
    for (index, object) in objects.enumerated() {
      do throws(Failure) {
        hosts.append(try ProfileHost(object, "[\(index)]", document, profile))
      } catch {
        let known = CredentialFormat.all.map { $0.name }
        let formats = object[Key.formats.rawValue]?.array?.map { $0.string ?? "" } ?? []
        let areKnown = !formats.isEmpty && formats.allSatisfy { known.contains($0) }
        invalid.append(
          Invalid(
            host: object[Key.host.rawValue]?.string.flatMap { NamedHost($0) },
            isFor: { !areKnown || formats.contains($0) }, failure: error))
      }
    }
    return (hosts, invalid)
  }

  private init(
    _ json: JSON, _ at: String, _ document: ConfigurationDocument, _ profile: String
  ) throws(Failure) {
    guard let members = json.object?.members else { throw Self.refusal(profile, at, "an object") }
    for member in members where Key(rawValue: member.key) == nil {
      throw Self.refusal(profile, at, "the keys \(Key.allCases.map { $0.rawValue }.joined(separator: ", "))")
    }
    func text(_ key: Key) throws(Failure) -> String? {
      guard let value = json[key.rawValue] else { return nil }
      guard let text = value.string, !text.isEmpty, !text.unicodeScalars.contains(where: { $0.value < 0x20 })
      else { throw Self.refusal(profile, "\(at).\(key.rawValue)", "one line of text") }
      return text
    }
    guard var host = try text(.host).flatMap({ NamedHost($0) }) else {
      throw Self.refusal(profile, "\(at).host", "a host, such as git.example or git.example:8443")
    }
    let names = CredentialFormat.all.map { $0.name }
    let formats = json[Key.formats.rawValue]?.array?.map { $0.string ?? "" } ?? []
    guard !formats.isEmpty, formats.allSatisfy({ names.contains($0) }) else {
      throw Self.refusal(profile, "\(at).for", "a list with some of \(names.joined(separator: ", "))")
    }
    host.allowsLoopbackHTTP = document.allowsLoopbackHTTP
    self.host = host
    self.formats = formats
    username = try text(.username)
    resource = try text(.resource)
    account = try text(.account)
    self.profile = profile
  }

  private static func refusal(_ profile: String, _ at: String, _ expected: String) -> Failure {
    Failure(
      .usage, "the profile \(profile): \(UserDirectories.credentialHosts)\(at): expected \(expected)",
      advice: "Correct the profile. docs/other-programs.md describes this member.")
  }

  /// Whether both hosts get the same token.
  func isSame(as other: ProfileHost) -> Bool {
    profile == other.profile && resource == other.resource && account == other.account
  }
}

/// The hosts of all profiles, or of the profile that the user named.
struct ProfileHosts {
  let all: [ProfileHost]
  /// The invalid objects that may be for the format.
  private let invalid: [ProfileHost.Invalid]
  /// The reason why a profile or an object could not be read; nil if all of them could be read. The message contains no
  /// host.
  let unread: String?

  /// - Throws: `.usage` if the named profile cannot be read.
  init(_ place: PlaceOptions, for format: String, _ environment: Environment = .process) throws(Failure) {
    let names = ["ENROLL_CONFIG", "ENROLL_PROFILE"]
    var unread: String?
    var found: [ProfileHost] = []
    var invalid: [ProfileHost.Invalid] = []
    func add(_ document: ConfigurationDocument, _ profile: String) {
      let read = ProfileHost.read(document, profile)
      found += read.hosts.filter { $0.formats.contains(format) }
      invalid += read.invalid.filter { $0.isFor(format) }
    }
    if place.config != nil || place.profile != nil || names.contains(where: { environment[$0] != nil }) {
      let context = try Context(place)
      add(try context.configuration(), context.configurationName)
    } else {
      for name in Candidates.allProfiles {
        let file: JSON
        do throws(EnrollError) {
          file = try UserDirectories.readConfiguration(
            at: try UserDirectories.configurationPath(name), called: name)
        } catch {
          unread = error.message
          continue
        }
        add(ConfigurationDocument(file), name)
      }
    }
    all = found
    self.invalid = invalid
    self.unread = invalid.first?.failure.message ?? unread
  }

  /// The error for the first invalid object that names the target; nil if no invalid object names it.
  func failure(_ target: CredentialTarget) -> Failure? {
    invalid.first { $0.host?.host.isSame(as: target.host, usualPorts: target.usualPorts) ?? false }?.failure
  }

  var hosts: CredentialHosts {
    CredentialHosts(named: all.map { $0.host }, source: UserDirectories.credentialHosts)
  }

  /// The host entry that names the target; nil if no entry does.
  /// - Parameter target: nil for all hosts.
  /// - Throws: `.usage` if entries with different tokens name the target, because it is unclear which token is meant.
  func only(_ target: CredentialTarget?, _ format: String) throws(Failure) -> ProfileHost? {
    let near = all.filter { entry in
      guard let target else { return true }
      if case .allowed = CredentialHosts(named: [entry.host]).answer(target) { return true }
      return false
    }
    guard let first = near.first else { return nil }
    guard let other = near.first(where: { !$0.isSame(as: first) }) else { return first }
    let place = target.map { Shown.text($0.host.text) } ?? "hosts"
    throw Failure(
      .usage,
      first.profile == other.profile
        ? "the profile \(first.profile) names \(place) twice for \(format)"
        : "the profiles \(first.profile) and \(other.profile) both name \(place) for \(format)",
      advice: "Name a host once for each format, or choose the profile by --profile.")
  }
}

extension TokenCommand {
  /// A copy of this command that gets the token of the profile that names `host`.
  func at(_ host: ProfileHost) -> TokenCommand {
    var command = self
    command.resource = resource ?? host.resource
    command.place.account = place.account ?? host.account
    guard place.config == nil, place.profile == nil, Environment.process["ENROLL_CONFIG"] == nil,
      Environment.process["ENROLL_PROFILE"] == nil
    else { return command }
    // If this profile does not serve the resource, the resource's own profile is used.
    if let resource = command.resource, let file = try? UserDirectories.configuration(host.profile),
      !ResourceProfile.serves(ConfigurationDocument(file), resource)
    {
      return command
    }
    command.place.profile = host.profile
    return command
  }
}
