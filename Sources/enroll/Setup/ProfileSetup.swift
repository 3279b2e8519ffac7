// Adds a host to `credentialHosts` of the profile, or removes it. Everything else in the file stays the same.

import EnrollJSON
import EnrollPosix

struct ProfileSetup {
  let session: CommandSession
  let host: NamedHost
  let format: String
  let username: String?
  let resource: String?
  let account: String?

  private static let member = UserDirectories.credentialHosts

  /// The changed profile; nil if the profile already has the host.
  /// - Throws: `.usage` if there is no profile, or if this or another profile names the host for another token.
  func added() throws(Failure) -> SetupPlan.Step? {
    var file = try file()
    let own = try hosts(of: file)
    if let present = own.first(where: { names($0) }) {
      try require(present)
      guard username == nil || username == present.username else {
        throw refusal(
          present, "with another user name", "Remove it there first, with --remove, or write username there.")
      }
      return nil
    }
    if let other = others.first(where: { names($0) }) {
      throw refusal(other, nil, "Remove it there first, with --remove and --profile \(other.profile).")
    }
    let entry = JSON.object([
      ("host", .string(host.text)), ("for", .array([.string(format)])),
      ("username", username.map { .string($0) }), ("resource", resource.map { .string($0) }),
      ("account", account.map { .string($0) }),
    ])
    let old = file.text
    guard file.append(entry, to: Self.member) else {
      throw Failure(
        .usage, "\(path) is not changed: \(Self.member) is no list",
        advice: "Write this into it: \(entry.text)")
    }
    return step(old, file, "+ \"\(Self.member)\": [\(entry.text)]")
  }

  /// The profile without the host; nil if the profile does not have the host.
  /// - Throws: `.usage` if the profile names the host for another token.
  func removed() throws(Failure) -> SetupPlan.Step? {
    guard try session.place.hasConfiguration() else { return nil }
    var file = try file()
    let old = file.text
    let entries = file.json[Self.member]?.array ?? []
    var removed: [JSON] = []
    // Entries are removed from the end, so that the positions of the other entries stay valid.
    for (index, host) in try hosts(of: file).enumerated().reversed() where names(host) {
      try require(host)
      removed.insert(entries[index], at: 0)
      let formats = host.formats.filter { $0 != format }
      guard !formats.isEmpty, var members = entries[index].object else {
        file.remove(index, of: Self.member)
        continue
      }
      members["for"] = .array(formats.map { .string($0) })
      file.replace(index, of: Self.member, by: .object(members))
    }
    guard !removed.isEmpty else { return nil }
    let shown = removed.map { entry in
      var members = entry.object ?? JSONObject()
      members["for"] = .array([.string(format)])
      return JSON.object(members).text
    }.joined(separator: ", ")
    return step(old, file, "- \"\(Self.member)\": [\(shown)]")
  }

  /// Whether a profile still names a host for this format after ``removed()``.
  func isNeeded() throws(Failure) -> Bool {
    let own = try session.place.hasConfiguration() ? hosts(of: file()) : []
    return own.contains { $0.formats.contains(format) && !names($0) }
      || others.contains { $0.formats.contains(format) }
  }

  /// Another profile that names the host for this format.
  var otherProfile: String? { others.first { names($0) }?.profile }

  /// Whether the entry is for this host, however its port is written.
  private func names(_ entry: ProfileHost) -> Bool {
    entry.formats.contains(format) && entry.host.isSamePlace(as: host)
  }

  /// Checks that the entry is for the token of this command.
  /// - Throws: `.usage` if the entry is for another token than the token of this command.
  private func require(_ entry: ProfileHost) throws(Failure) {
    guard entry.resource != resource || entry.account != account else { return }
    var words: [String] = []
    if let resource = entry.resource { words += ArgumentWords.option("--resource", resource) }
    if let account = entry.account { words += ArgumentWords.option("--account", account) }
    let options = words.map { ShellWord.quoted($0) }.joined(separator: " ")
    throw refusal(
      entry, "for another token",
      "Remove it there first, with --remove and "
        + (words.isEmpty ? "without --resource and --account." : "\(options)."))
  }

  private func refusal(_ entry: ProfileHost, _ difference: String?, _ advice: String) -> Failure {
    Failure(
      .usage,
      "the profile \(entry.profile) names \(Shown.text(entry.host.text)) for \(format)"
        + (difference.map { " \($0)" } ?? ""), advice: Advice(stringLiteral: advice))
  }

  private var path: String { session.place.configurationPath }

  /// The profile's file. Its paths stay relative.
  /// - Throws: `.usage` if there is no such file, or if it is not a JSON object.
  private func file() throws(Failure) -> MemberText {
    guard let text = try SetupFile.read(path), let file = MemberText(text) else {
      _ = try session.configuration()
      throw Failure(.usage, "\(path) is no JSON object")
    }
    return file
  }

  private func hosts(of file: MemberText) throws(Failure) -> [ProfileHost] {
    try ProfileHost.all(of: ConfigurationDocument(file.json), session.place.configurationName)
  }

  /// The hosts of the other profiles, except profiles that cannot be read.
  private var others: [ProfileHost] {
    Candidates.allProfiles.filter { $0 != session.place.configurationName }.flatMap { name -> [ProfileHost] in
      guard let path = try? UserDirectories.configurationPath(name),
        let file = try? UserDirectories.readConfiguration(at: path, called: name)
      else { return [] }
      return ProfileHost.read(ConfigurationDocument(file), name).hosts
    }
  }

  private func step(_ old: String, _ new: MemberText, _ shown: String) -> SetupPlan.Step {
    .write(.init(path: path, old: old, new: new.text, shown: [shown]))
  }
}
