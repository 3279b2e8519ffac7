// `enroll logout`: logs out on this device at once, at the provider as soon as the provider can be reached, and with
// --browser also in the browser.

import EnrollSteps
import EnrollRules
import EnrollArguments
import EnrollCommands
import EnrollHost
import EnrollJSON

struct Logout: EnrollCommand {
  private static let allAccounts = Parameter.flag(
    "all",
    help:
      "Sign out every account in the store that is signed in at this provider, or at any provider if there is no default profile."
  )
  private static let browserToo = Parameter.flag(
    "browser", help: "Also end the browser's session through the provider's page.")

  static let command = Command(
    "logout", "Sign out: erase the tokens here and revoke them at the provider.",
    discussion: """
      The browser has its own session at the provider: --browser opens the page that ends it. If the provider \
      cannot be reached, the tokens are revoked later. It is not an error if no user is signed in.
      """, arguments: [allAccounts.argument, browserToo.argument, ContextOptions.resource.argument],
    groups: [ContextOptions.group], action: run
  )

  let place: PlaceOptions
  let resource: String?
  private let all: Bool
  private let browser: Bool

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    all = values[Self.allAccounts]
    browser = values[Self.browserToo]
    resource = values[ContextOptions.resource]
    if all, place.account != nil { throw UsageError("--all and --account exclude each other.") }
    if all, resource != nil { throw UsageError("--all and --resource exclude each other.") }
  }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    var ended: [EndedSession] = []
    do throws(Failure) {
      try end(session, &ended)
    } catch {
      // The user pressed Ctrl-C while the command waited for the provider, or an account could not be signed out. The
      // accounts in `ended` are signed out already.
      guard !ended.isEmpty else { throw error }
      _ = tell(ended, session, error)
      return error.ending
    }
    return tell(ended, session)
  }

  private func end(_ session: CommandSession, _ ended: inout [EndedSession]) throws(Failure) {
    guard try session.hasProfile(of: resource) else { return }
    guard try session.place.hasStore() else {
      _ = try session.configuration()
      return
    }
    guard all else {
      return try end(session.place.account, try session.configuration(), session, &ended)
    }
    let names = try session.accountNames()
    // If there is no default profile, the command uses the configurations of all profiles, because each resource has
    // its own profile.
    var first: Failure?
    for configuration in try AccountList.configurations(session) {
      for name in names {
        do throws(Failure) {
          try end(name, configuration, session, &ended)
        } catch {
          guard error.ending != .interrupted else { throw error }
          if first == nil {
            first = error
            first?.message = "\(name): \(error.message)"
          }
        }
      }
    }
    if let first { throw first }
  }

  /// Signs the account out. Also ends the sign-ins that wait for confirmation at other clients of the account's
  /// resource.
  private func end(
    _ name: String, _ configuration: ConfigurationDocument, _ session: CommandSession,
    _ ended: inout [EndedSession]
  ) throws(Failure) {
    let client = try session.open(configuration, account: name)
    defer { session.close(client) }
    let others = try session.waitingElsewhere(client, configuration)
    try end(client, name, session, &ended)
    for other in others {
      let client = try session.open(other.configuration, account: name, asksPIN: false)
      defer { session.close(client) }
      try end(client, name, session, &ended)
    }
  }

  /// Signs the account out at one client. Adds the account to `ended` if a user was signed in. If Ctrl-C interrupts
  /// the logout after the session was erased, the account is added before the error is thrown.
  private func end(
    _ client: Client, _ name: String, _ session: CommandSession, _ ended: inout [EndedSession]
  ) throws(Failure) {
    let kept = try session.read(client)
    let wasSignedIn = kept.isSignedIn || kept.waiting != nil
    var one = EndedSession(
      account: name, profile: kept.profile, waiting: kept.waiting, url: nil, providerTold: .queued)
    do throws(Failure) {
      let signOut = try session.run(saying: "Revoking the tokens at the provider") {
        cancellation throws(EnrollError) in
        try client.beginLogout(localOnly: false, until: client.usualDeadline, cancellation: cancellation)
      }
      one.url = signOut.url
      var told = signOut.providerTold
      // The revocation must not wait for the browser's return, because the browser does not return to this program.
      if signOut.url != nil, told == .queued {
        let revocation = try session.run(saying: "Revoking the tokens at the provider") {
          cancellation throws(EnrollError) in
          try client.revoke(until: client.usualDeadline, cancellation: cancellation)
        }
        told = revocation.providerTold ?? told
      }
      guard wasSignedIn else { return }
      if let told { one.providerTold = told } else { one.providerTold = try self.told(client, session) }
      ended.append(one)
    } catch {
      guard error.ending == .interrupted, wasSignedIn else { throw error }
      let now = try session.read(client)
      if !now.isSignedIn, now.waiting == nil {
        one.providerTold = try told(client, session)
        ended.append(one)
      }
      throw error
    }
  }

  /// Whether the provider was informed of a sign-out. This is for a sign-out that returned no result, or that had
  /// nothing to revoke.
  private func told(_ client: Client, _ session: CommandSession) throws(Failure) -> ProviderTold {
    let facts = try session.facts(client)
    if let reason = facts.revocationRefusal { return .notPossible(reason: reason) }
    if facts.hasUnqueuedMessages {
      return .notPossible(reason: "the command was stopped, and the store could not keep the revocation")
    }
    return (facts.queuedMessageCount ?? 0) > 0 ? .queued : .told
  }

  /// Reports the result of the command.
  /// - Parameter failure: why the command ended early, or why an account could not be signed out.
  private func tell(
    _ ended: [EndedSession], _ session: CommandSession, _ failure: Failure? = nil
  ) -> CommandStatus {
    if session.isJSON {
      Output.json(
        .object([("loggedOut", .array(ended.map { $0.json })), ("error", failure?.errorJSON)]))
    }
    let terminal = Terminal.errors
    if ended.isEmpty, !session.isJSON { terminal.say("No user was signed in.") }
    for one in ended {
      if !session.isJSON {
        for line in one.lines { terminal.say("\(terminal.signs.good) \(line)", in: .good) }
        if let warning = one.warning { terminal.say("! \(warning)", in: .warning) }
      }
      if failure?.ending != .interrupted { endBrowserSession(one.url, session) }
    }
    if let failure, !session.isJSON { terminal.tell(failure, session.said) }
    return .done
  }

  /// Because the URL contains the id_token, it is shown only with `--browser`, and printed nowhere else.
  private func endBrowserSession(_ address: String?, _ session: CommandSession) {
    let terminal = Terminal.errors
    guard browser else {
      if address != nil, terminal.isTerminal, !session.isJSON {
        terminal.say("  The browser may still be signed in; --browser ends its session, too.")
      }
      return
    }
    guard let address else {
      return terminal.say("! The provider has no page that ends the browser's session.", in: .warning)
    }
    if let opener = Browser().open(address) {
      do throws(Failure) {
        try opener.requireSuccess(session)
        return terminal.say("  The browser ends its session.")
      } catch {
        terminal.say("! \(error.message)", in: .warning)
      }
    }
    if session.isJSON { return }
    terminal.say("To end the browser's session, open this address:")
    terminal.say(address: address)
  }
}

/// An account whose user was signed out.
struct EndedSession {
  var account: String
  /// The profile of the user who was signed in; nil if nobody was signed in.
  var profile: JSONObject?
  /// The sign-in that waited for confirmation; nil if no sign-in waited.
  var waiting: WaitingSignIn?
  /// The URL that ends the provider's session in the browser; nil if there is none.
  var url: String?
  var providerTold: ProviderTold

  var json: JSON {
    .object([
      ("account", .string(account)), ("profile", profile.map { .object($0) }), ("waiting", waiting?.json),
      ("url", url.map { .string($0) }), ("providerTold", .string(providerTold.name)),
      ("reason", providerTold.reason.map { .string($0) }),
    ])
  }

  /// The lines that name the user who was signed in, and the user who was asked to confirm.
  var lines: [String] {
    var lines: [String] = []
    if profile != nil || waiting == nil { lines.append("signed out \(Shown.person(profile))") }
    if let waiting {
      lines.append(
        "dropped the sign-in of \(Shown.person(waiting.profile)), which waited for confirmation")
    }
    return lines
  }

  /// A warning if the provider does not know of the logout; nil if the provider knows.
  var warning: String? {
    switch providerTold {
    case .told: nil
    // The store does not keep the reason why the revocation waits, so the warning cannot name the reason.
    case .queued:
      "The tokens are not revoked at the provider yet: the next use tries again. If another account has the same user, the "
        + "sign-out of that account revokes them."
    case .notPossible(let reason):
      "The tokens could not be revoked at the provider: \(Shown.message(reason)). They work until they expire; end the session in your "
        + "account at the provider."
    }
  }
}
