// Adds a host to `credentialHosts` of the profile, or removes it.

import EnrollJSON
import EnrollPosix

struct ProfileSetup {
  let session: CommandSession
  let host: NamedHost
  let format: String
  let username: String?

  /// The changed profile; nil if it has the host already.
  /// - Throws: `.usage` if there is no profile, and if another profile names the host.
  func added() throws(Failure) -> SetupPlan.Step? {
    let document = try session.configuration()
    let name = session.place.configurationName
    let own = try ProfileHost.all(of: document, name)
    guard !own.contains(where: { names($0) }) else { return nil }
    if let other = try others(than: name).first(where: { names($0) }) {
      throw Failure(
        .usage, "the profile \(other.profile) names \(Shown.text(host.text)) for \(format)",
        advice: "Remove it there first, with --remove and --profile \(other.profile).")
    }
    let entry = JSON.object([
      ("host", .string(host.text)), ("for", .array([.string(format)])),
      ("username", username.map { .string($0) }),
    ])
    return try step(document, (document.credentialHosts?.array ?? []) + [entry])
  }

  /// The profile without the host; nil if it has none.
  func removed() throws(Failure) -> SetupPlan.Step? {
    guard try session.place.hasConfiguration() else { return nil }
    let document = try session.configuration()
    let own = try ProfileHost.all(of: document, session.place.configurationName)
    guard own.contains(where: { names($0) }) else { return nil }
    var kept: [JSON] = []
    for (entry, json) in zip(own, document.credentialHosts?.array ?? []) {
      guard names(entry) else {
        kept.append(json)
        continue
      }
      let formats = entry.formats.filter { $0 != format }
      guard !formats.isEmpty, var members = json.object else { continue }
      members["for"] = .array(formats.map { .string($0) })
      kept.append(.object(members))
    }
    return try step(document, kept)
  }

  /// Whether a profile still names a host for this format after ``removed()``.
  func isNeeded() throws(Failure) -> Bool {
    let name = session.place.configurationName
    let own = try session.place.hasConfiguration() ? ProfileHost.all(of: session.configuration(), name) : []
    return try (own + others(than: name)).contains { $0.formats.contains(format) && !names($0) }
  }

  private func names(_ entry: ProfileHost) -> Bool {
    entry.formats.contains(format) && entry.host.text == host.text
  }

  private func others(than name: String) throws(Failure) -> [ProfileHost] {
    var found: [ProfileHost] = []
    for profile in Candidates.allProfiles where profile != name {
      guard let path = try? UserDirectories.configurationPath(profile),
        let file = try? UserDirectories.readConfiguration(at: path, called: profile)
      else { continue }
      found += try ProfileHost.all(of: ConfigurationDocument(file), profile)
    }
    return found
  }

  private func step(_ document: ConfigurationDocument, _ list: [JSON]) throws(Failure) -> SetupPlan.Step {
    var changed = document
    changed.credentialHosts = list.isEmpty ? nil : .array(list)
    let path = session.place.configurationPath
    return .write(path: path, old: try SetupFile.read(path), new: changed.page)
  }
}
