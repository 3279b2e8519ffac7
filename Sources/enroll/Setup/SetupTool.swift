// The table of the tools that `enroll setup` knows: for each tool, the changes that make the tool get its token from
// `enroll`, and the removal of these changes.

import EnrollArguments
import EnrollJSON
import EnrollPosix
import EnrollRules

/// A tool, and the changes for it.
struct SetupTool: Sendable {
  /// The word on the command line.
  let name: String
  /// A sentence for the help: what the command does.
  let summary: String
  /// Whether the tool's configuration contains a command line, which can have the token's options.
  var hasCommandLine = false
  /// Whether the written lines can contain `--username`, and `--resource`.
  var takesUsername = false
  var takesResource = true
  let add: @Sendable (SetupRequest) throws(Failure) -> SetupPlan
  let remove: @Sendable (SetupRequest) throws(Failure) -> SetupPlan

  static let all: [SetupTool] = [.git, .docker, .kubectl, .cargo, .terraform]
}

/// The host and the token's options, for the lines that `enroll setup` writes.
struct SetupRequest {
  let host: NamedHost
  /// The options of `enroll credential` and `enroll token` that name the context and the resource.
  let options: [String]
  let username: String?
  let resource: String?
  /// The account that the user named; nil for the default account.
  let account: String?
  let session: CommandSession

  /// The command line of a credential helper.
  func helper(_ format: String) -> [String] {
    [OwnProgram.word, "credential", format, "--host", host.text] + options
      + (username.map { ArgumentWords.option("--username", $0) } ?? [])
  }

  func profile(_ format: String) -> ProfileSetup {
    ProfileSetup(
      session: session, host: host, format: format, username: username, resource: resource, account: account)
  }

  /// The absolute path of `variable`, if the variable is set; otherwise the path `below` in the user's home.
  func path(_ variable: String?, _ below: String) throws(Failure) -> String {
    if let variable, !variable.isEmpty {
      return try Failure.wrapping { () throws(EnrollError) in try Context.absolute(variable) }
    }
    let known = Environment.process["HOME"] ?? UserDirectories.homeOfPasswordDatabase
    guard let home = known, home.hasPrefix("/") else {
      throw Failure(.failed, "HOME names no folder, so the tool's configuration is unknown")
    }
    return "\(home)/\(below)"
  }

  /// Adds a link to this program under the name that a tool starts, unless there is a program with this name.
  /// - Parameter found: a program with this name in PATH.
  /// - Throws: `.failed` if the path has something that the tool cannot start, except a broken link.
  func link(_ path: String, found: String?, _ plan: inout SetupPlan) throws(Failure) {
    if let present = found ?? (OwnProgram.isProgram(path) ? path : nil) {
      if SetupFile.realPath(present) != SetupFile.realPath(OwnProgram.path) {
        plan.notes.append(
          "\(present) is there, and is not a link to \(OwnProgram.path). It has to start enroll.")
      }
    } else if !SetupFile.exists(path) {
      plan.steps.append(.link(path: path, to: OwnProgram.path))
    } else if SetupFile.linkTarget(path) != nil, SetupFile.realPath(path) == nil {
      plan.steps += [.unlink(path), .link(path: path, to: OwnProgram.path)]
    } else {
      throw Failure(
        .failed, "\(path) is not a program that can be started: nothing is changed",
        advice: "Remove it, and run the command again, which then puts a link to this program there.")
    }
    let folder = Folders.parent(of: path)
    if found == nil, folder.hasSuffix("/bin"), !OwnProgram.folders.contains(folder) {
      plan.notes.append("\(folder) is not in PATH: add it, or the tool does not find the link.")
    }
  }
}

extension SetupTool {
  /// Docker, Podman and others: their configuration names a helper for each registry, and they start it without
  /// arguments.
  static let docker = SetupTool(
    name: "docker", summary: "Make Docker, Podman and others get the token for a registry.",
    takesUsername: true,
    add: { request throws(Failure) in
      let path = try dockerFile(request)
      let old = try SetupFile.read(path)
      var plan = SetupPlan()
      if let step = try request.profile("docker").added() { plan.steps.append(step) }
      let link = try request.path(nil, ".local/bin/\(dockerProgram)")
      try request.link(link, found: OwnProgram.inPath(dockerProgram), &plan)
      let byHand = JSON.object([("credHelpers", .object([(request.host.text, .string(OwnProgram.name))]))])
        .text
      guard var text = MemberText(old ?? "{}"),
        text.add(OwnProgram.name, as: request.host.text, in: "credHelpers")
      else {
        throw Failure(
          .failed,
          "\(path) is not changed: it is no JSON object, or names another helper for \(request.host.text)",
          advice: "Write this into it: \(byHand)")
      }
      let new = old == nil ? byHand + "\n" : text.text
      if new != old { plan.steps.append(dockerChange(path, old, new, "+", [request.host.text])) }
      return plan
    },
    remove: { request throws(Failure) in
      var plan = SetupPlan()
      let path = try dockerFile(request)
      let profile = request.profile("docker")
      let other = profile.otherProfile
      if let other {
        plan.notes.append(
          "The profile \(other) names \(request.host.text), so \(path) stays: "
            + "--profile \(other) removes that."
        )
      }
      if other == nil, let old = try SetupFile.read(path), var text = MemberText(old) {
        let keys = (text.json["credHelpers"]?.object?.members ?? []).filter { member in
          member.value.string == OwnProgram.name && request.host.isSamePlace(as: NamedHost(member.key))
        }.map { $0.key }
        for key in keys { text.remove(key, in: "credHelpers") }
        if !keys.isEmpty { plan.steps.append(dockerChange(path, old, text.text, "-", keys)) }
      }
      if let step = try profile.removed() { plan.steps.append(step) }
      let link = try request.path(nil, ".local/bin/\(dockerProgram)")
      if try !profile.isNeeded(), OwnProgram.isLink(link) { plan.steps.append(.unlink(link)) }
      return plan
    })

  /// Changes `credHelpers` for hosts.
  private static func dockerChange(
    _ path: String, _ old: String?, _ new: String, _ sign: String, _ hosts: [String]
  ) -> SetupPlan.Step {
    let members = JSON.object(hosts.map { ($0, .string(OwnProgram.name)) })
    return .write(.init(path: path, old: old, new: new, shown: ["\(sign) \"credHelpers\": \(members.text)"]))
  }

  private static let dockerProgram = "docker-credential-enroll"

  private static func dockerFile(_ request: SetupRequest) throws(Failure) -> String {
    "\(try request.path(Environment.process["DOCKER_CONFIG"], ".docker"))/config.json"
  }
}
