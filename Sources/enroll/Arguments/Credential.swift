// `enroll credential FORMAT`: prints a token for programs that get their credentials from a command. These programs get
// the token only for the hosts that a command-line option or a profile names.

import EnrollArguments
import EnrollRules

struct Credential {
  static let allowedHosts = Parameter.repeated(
    "host", value: "host",
    help:
      "A host that receives the token, with its port if it has one, or a URL such as smtp://mail.example:587. Repeatable. Without it the hosts that the profiles name in credentialHosts."
  )
  private static let defaultUsername = Parameter.option(
    "username", value: "name", help: "The user name to return if the program names none.", default: "oauth2")
  private static let loopbackHTTP = Parameter.flag(
    "allow-loopback-http", help: "Also allow http to a server on this machine.")

  static let command = Command(
    "credential", "Give a valid access token to a program that asks a command for a credential.",
    discussion: """
      Each format is a protocol of other programs. The token goes only to the hosts that you name, by --host or in \
      credentialHosts of a profile; for any other host the program gets its own word for no credential. If there is no token, standard error and the exit status say why, as \
      for enroll token.
      """,
    subcommands: CredentialFormat.all.map { command($0.name, "For \($0.programs).", $0) })

  /// The command `git-credential`, an earlier spelling of `credential git`.
  static let gitCredential = command("git-credential", "The earlier spelling of credential git.", .git)

  private static func command(_ name: String, _ abstract: String, _ format: CredentialFormat) -> Command {
    Command(
      name, abstract,
      discussion: format.setup,
      arguments: [allowedHosts.argument] + (format.hasUsername ? [defaultUsername.argument] : [])
        + [loopbackHTTP.argument] + LastingToken.arguments + format.arguments,
      groups: [ContextOptions.group]
    ) { values throws(UsageError) in try answering(values, format, name).run() }
  }

  private static func answering(
    _ values: Values, _ format: CredentialFormat, _ name: String
  ) throws(UsageError) -> CredentialAnswering {
    let place = try ContextOptions.read(values)
    let username = values[defaultUsername]
    if username.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw UsageError("--username must be one line of text.")
    }
    let named = try hosts(values)
    var profiles: ProfileHosts?
    var failure: Failure?
    if named == nil {
      do throws(Failure) { profiles = try ProfileHosts(place, for: format.name) } catch { failure = error }
      // A program that starts `enroll` through a link may ask about any host. If no host is named, the answer to that
      // program is "no credential" in its protocol, not an error.
      if let profiles, profiles.all.isEmpty, profiles.unread == nil, !ProgramName.isLink {
        throw UsageError(
          "No host is named. The token goes to those alone that --host names, or credentialHosts in a profile."
        )
      }
    }
    return CredentialAnswering(
      format: format, words: format.arguments.flatMap { values.words($0) }, named: named, profiles: profiles,
      failure: failure, username: username, token: LastingToken.command(values, at: place), name: name)
  }

  /// The hosts that the options `--host` name; nil if there is no such option.
  private static func hosts(_ values: Values) throws(UsageError) -> CredentialHosts? {
    var hosts: [NamedHost] = []
    for text in values[allowedHosts] {
      guard var host = NamedHost(text) else {
        throw UsageError(
          "--host expects a host as git names it, such as git.example or git.example:8443, or with a protocol, such as smtp://mail.example:587; got \(PrintableText.bounded(text, maximumBytes: 100))."
        )
      }
      host.allowsLoopbackHTTP = values[loopbackHTTP]
      hosts.append(host)
    }
    return hosts.isEmpty ? nil : CredentialHosts(named: hosts)
  }
}

/// The options that request a token with enough lifetime left for a long request, such as a large push.
private enum LastingToken {
  private static let lifetime = Parameter.option(
    "min-lifetime", value: "seconds",
    help: "Seconds for which the token must still be valid at the start. By default half of its lifetime.",
    in: TokenCommand.lifetimes)
  private static let wait = Parameter.option(
    "timeout", value: "seconds", help: "Seconds to wait for the token.", in: TokenCommand.timeouts,
    default: TokenCommand.usualTimeout)

  static let arguments = [
    lifetime.argument, wait.argument, WantedToken.resource.argument, WantedToken.scope.argument,
    WantedToken.login.argument,
  ]

  static func command(_ values: Values, at place: PlaceOptions) -> TokenCommand {
    TokenCommand(
      minimumLifetime: values[lifetime] ?? 0, lastsHalf: values[lifetime] == nil, timeout: values[wait],
      isTimeoutNamed: values.has(wait), resource: values[WantedToken.resource],
      scope: values[WantedToken.scope], signsIn: values[WantedToken.login], place: place)
  }
}
