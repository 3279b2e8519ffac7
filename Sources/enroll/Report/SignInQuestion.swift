// The end of a sign-in: the question whether the profile is the user's, and the messages. With `--yes`, the new user
// may replace another user only if this command itself began the sign-in.

import EnrollRules
import EnrollCommands
import EnrollHost
import EnrollJSON

extension SignIn {
  /// The question whether a profile is the user's. The answer has to name the question's transaction.
  struct Question {
    let transactionID: TransactionID
    let profile: JSONObject

    init(_ transactionID: TransactionID, _ profile: JSONObject) {
      self.transactionID = transactionID
      self.profile = profile
    }
  }

  /// - Parameters:
  ///   - own: the transaction that this command began.
  ///   - former: the session of another client that this sign-in replaces; nil if there is no such session.
  func confirm(
    _ client: Client, _ asked: Question, of own: TransactionID? = nil, beside former: AccountSnapshot? = nil
  ) throws(Failure) -> CommandStatus {
    let isAnswered = try isAnswered(client, asked, of: own, beside: former)
    guard isAnswered || Terminal.hasPerson else {
      guard !way.isForBridge else {
        throw Failure(
          .signInNeeded, "an earlier sign-in, of \(Shown.person(asked.profile)), waits for your confirmation")
      }
      throw Failure(
        .notFinished,
        "an earlier sign-in, of \(Shown.person(asked.profile)), waits for confirmation, and another user is signed in: --yes does not answer for it",
        advice: "Run \(.login) at a terminal to answer.")
    }
    if !isAnswered {
      let choice =
        session.waits.isInterrupted
        ? .interrupted : Prompt.choice(Shown.question(asked.profile), default: true, session.waits)
      if choice != .interrupted {
        // The user's answer concerns the profile that was shown. Since then, the user may have confirmed this profile
        // or signed in at another terminal.
        let now = try stateNow(client)
        switch now {
        case .awaitingConfirmation(let transactionID, let profile) where transactionID != asked.transactionID:
          errors.say("Another sign-in has finished in the meantime.", in: .warning)
          return try confirm(client, Question(transactionID, profile), beside: former)
        case .active: return try stay(client, now)
        case .awaitingConfirmation, .starting, .unregistered, .authenticating, .renewalFailed,
          .registrationFailed:
          break
        }
      }
      switch choice {
      case .yes: break
      case .no:
        try reject(client, asked)
        throw Failure(
          // The message does not say that the tokens are revoked, because that depends on the user's other sessions
          // (R35).
          .notFinished, "not confirmed: the new tokens are not kept",
          advice: "Run \(.loginAsSomebodyElse) to sign in as another user.")
      case .interrupted:
        throw Failure(
          .interrupted, "stopped before you confirmed", advice: "Run \(.login) to be asked again.")
      }
    }
    let confirmed: RegistrationState
    do throws(Failure) {
      confirmed = try session.run(saying: "Confirming") { cancellation throws(EnrollError) in
        try client.confirm(asked.transactionID, until: client.usualDeadline, cancellation: cancellation)
      }
    } catch {
      // Another process has signed in or confirmed in the meantime.
      let now = try stateNow(client)
      switch now {
      case .active: return try stay(client, now)
      case .awaitingConfirmation(let transactionID, let profile) where transactionID != asked.transactionID:
        return try confirm(client, Question(transactionID, profile), of: own, beside: former)
      case .unregistered:
        throw Failure(
          .notFinished, "another sign-in, or a sign-out, has dropped this one in the meantime")
      case .awaitingConfirmation, .starting, .authenticating, .renewalFailed, .registrationFailed:
        throw error
      }
    }
    return try welcome(client, confirmed)
  }

  private func reject(_ client: Client, _ asked: Question) throws(Failure) {
    _ = try session.run(saying: "Dropping the new tokens") { cancellation throws(EnrollError) in
      try client.retry(asked.transactionID, until: client.usualDeadline, cancellation: cancellation)
    }
  }

  /// Whether `--yes` answers the question. For a sign-in that this command began, `--yes` does. For any other sign-in,
  /// it does only if a user typed it and no user is replaced: a program that runs this command must not answer a
  /// question that the user left open.
  private func isAnswered(
    _ client: Client, _ asked: Question, of own: TransactionID?, beside former: AccountSnapshot?
  ) throws(Failure) -> Bool {
    guard way.yes else { return false }
    if asked.transactionID == own { return true }
    guard !way.isForBridge else { return false }
    let kept = if let former { former } else { try session.read(client) }
    guard kept.expiresAt != nil else { return true }
    guard let subject = kept.profile?["sub"] else { return false }
    return subject == asked.profile["sub"]
  }

  /// Saves the profile.
  /// - Throws: `.usage` if the profile is for another provider or client than before.
  func save(_ configuration: ConfigurationDocument) throws(Failure) {
    let path = session.place.configurationPath
    try Folders.make(Folders.parent(of: path))
    let lock = try ProfileLock.taken(session)
    defer { lock?.end() }
    try requireKnownProfile(configuration)
    // A link stays a link.
    try Folders.write(configuration.withHosts(of: path).page, to: SetupFile.realPath(path) ?? path)
    becomeCurrent()
    errors.say("Saved the provider as the profile \(session.place.configurationName): \(path)")
  }

  /// Checks that no other command, for another account, has saved another provider or client since this command read
  /// the profile.
  private func requireKnownProfile(_ configuration: ConfigurationDocument) throws(Failure) {
    guard try session.place.hasConfiguration() else { return }
    let present = try session.place.configuration()
    let known = [configuration, session.readConfiguration, former].compactMap { $0 }
    guard !known.contains(where: { $0.hasSameClient(as: present) }) else { return }
    throw Failure(
      .usage,
      "the profile \(session.place.configurationName) is for \(present.shownClient) since another command saved it; this sign-in is for \(configuration.shownClient), and the profile is not changed",
      advice: "Choose another name by --profile, or remove \(session.place.configurationPath).")
  }

  /// Saves the profile with the new client, after the user has signed in with it and confirmed, and ends the session of
  /// the previous client.
  func replace(
    _ former: ConfigurationDocument, with configuration: ConfigurationDocument
  ) throws(Failure) {
    try save(configuration)
    do throws(Failure) {
      try signOut(former)
    } catch {
      errors.say("! The session of the client before was not ended: \(error.message)", in: .warning)
    }
  }

  /// Ends the session of the previous client. Otherwise this session would stay in the store, and no command could end
  /// it.
  private func signOut(_ configuration: ConfigurationDocument) throws(Failure) {
    guard try session.place.hasStore() else { return }
    let client = try session.open(configuration, asksPIN: false)
    _ = try session.run(saying: "Signing the client before out") { cancellation throws(EnrollError) in
      try client.beginLogout(localOnly: false, until: client.usualDeadline, cancellation: cancellation)
    }
    session.close(client)
  }

  /// Reports that a user is signed in, although this command did not sign the user in.
  func stay(_ client: Client, _ state: RegistrationState) throws(Failure) -> CommandStatus {
    // A command with `--again` stays only if another command signed in while it waited.
    way.again || way.registerAgain
      ? try tell(client, state, "signed in by another command as", Self.tokenHint)
      : try tell(client, state, "already signed in as", "To sign in again: \(.loginAgain)")
  }

  func welcome(_ client: Client, _ state: RegistrationState) throws(Failure) -> CommandStatus {
    try tell(client, state, "signed in as", Self.tokenHint)
  }

  private static let tokenHint: Advice = "A token for scripts: \(.token)"

  /// Deletes the choice of `enroll switch`, so that the next commands use this command's provider. Does so only if the
  /// command line names a provider, but no profile, store or account.
  func becomeCurrent() {
    if session.said.place.isEmpty, !way.provider.words.isEmpty { CurrentChoice.forget() }
  }

  private func tell(
    _ client: Client, _ state: RegistrationState, _ words: String, _ next: Advice
  ) throws(Failure) -> CommandStatus {
    becomeCurrent()
    let kept = try session.read(client)
    if session.isJSON {
      Output.json(
        .object(
          [
            ("account", .string(session.place.account)),
            ("state", state.json(choices: client.configuration.choices)),
          ] + kept.session))
    } else {
      errors.say("\(errors.signs.good) \(words) \(Shown.person(kept.profile))", in: .good)
      if !kept.missingScopes.isEmpty {
        let missing = Scopes.joined(kept.missingScopes)
        errors.say("! The provider did not grant: \(Shown.text(missing))", in: .warning)
      }
      if kept.renews == false {
        errors.say(
          "! The provider gave no refresh token: you sign in again when the token expires.", in: .warning)
      }
      errors.say("  " + next.text(session.said))
    }
    return .done
  }
}
