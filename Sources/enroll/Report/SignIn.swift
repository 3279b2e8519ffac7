// A sign-in at the terminal: opens the browser or shows a code, shows a spinner until the user is back, and asks
// whether the profile is the user's. Ctrl-C abandons the attempt, and a user who was signed in stays signed in.

import EnrollCommands
import EnrollRules
import EnrollHost
import EnrollJSON

struct SignIn {
  let way: SignInArguments
  /// The provider from the command line. It is kept, because its secret may come from a pipe, which can be read only
  /// once.
  private let setup: ProviderSetup?
  /// The resource from the command line.
  let resource: ResourceSetup?
  /// A configuration for the resource that is not saved yet.
  private var made: ConfigurationDocument?
  /// The saved profile, if this sign-in uses another client or server.
  private(set) var former: ConfigurationDocument?
  /// The scopes of the sign-in that this command has completed; nil if this command has completed no sign-in.
  private var requested: [String]?
  let kind: Kind
  let session: CommandSession
  let errors = Terminal.errors

  /// How the user signs in.
  enum Kind {
    case signIn, register, device

    fileprivate var transaction: TransactionKind {
      switch self {
      case .signIn: .signIn
      case .register: .register
      case .device: .device
      }
    }
  }

  /// - Throws: as ``SignInArguments/setup()``.
  init(_ way: SignInArguments, _ kind: Kind, _ session: CommandSession) throws(Failure) {
    self.way = way
    setup = try way.setup()
    resource = way.provider.resource.map { ResourceSetup(way, $0, session) }
    self.kind = kind
    self.session = session
  }

  /// - Throws: also as ``ResourceSetup/first()``.
  mutating func run() throws(Failure) -> CommandStatus {
    // Without a provider the sign-in will fail, so the program waits for no other sign-in, and makes no lock file.
    if resource == nil, setup == nil, try !session.place.hasConfiguration() {
      return try signIn(again: false)
    }
    // If the user is signed in already, the command does not wait for another sign-in.
    let mayBeServed = !way.again && !way.registerAgain && SignInLocks.isTaken(session)
    let isServedAlready = mayBeServed ? try session.isSignedIn() : false
    var locks = isServedAlready ? nil : try SignInLocks.acquire(session)
    defer {
      if let requested { locks?.succeeded(requested) }
      locks?.end()
    }
    if kind != .device, let uri = knownRedirectURI { try locks?.awaitRedirect(uri, session) }
    // The sign-in for which this command has waited may already have requested the same scopes.
    let isServed = locks?.servedScopes.map { done in wantedScopes.allSatisfy { done.contains($0) } } ?? false
    let again = way.registerAgain || way.again && !isServed
    guard let resource else { return try signIn(again: again) }
    defer { resource.endQuestion() }
    made = try resource.first()
    return try signIn(again: again)
  }

  /// The redirect URI, if it is known before the provider is asked.
  private var knownRedirectURI: String? {
    if let named = way.provider.redirectURI { return named }
    // A file that the user named may be a pipe, which can be read only once.
    let isProfile = session.place.configurationName != session.place.configurationPath
    if isProfile, let uri = (try? session.place.configuration())?.redirectURI { return uri }
    return way.provider.resource.map { ResourceProfile.redirectURI(of: $0) }
      ?? setup?.configuration.redirectURI
  }

  /// The scopes that the command line asks for.
  private var wantedScopes: [String] {
    let challenged = way.provider.challenge.flatMap { try? ResourceChallenge(header: $0) }?.scopes ?? []
    return way.scopes + challenged
  }

  private mutating func signIn(again: Bool) throws(Failure) -> CommandStatus {
    var saves = try prepareProfile()
    if saves { try Folders.requireWritable(Folders.parent(of: session.place.configurationPath)) }
    var configuration = try self.configuration()
    if !saves, !way.provider.settings.isEmpty { saves = try session.configuration() != configuration }
    var client = try session.open(configuration, makesStore: true)
    let state = try session.state(client, within: 15, saying: "Looking at the account")
    let before = try session.read(client)
    var startsAnew = again || asksForOther(than: before)
    if !startsAnew { startsAnew = try dropsQuestion(client, configuration, before) }
    if startsAnew {
      try requireAnswer()
    } else if let status = try continued(client, configuration, state, saves: saves) {
      return status
    }
    let since = session.now
    if made == nil, let resource,
      let newer = try resource.renewed(configuration, try resource.registration(client))
    {
      client = try reopen(client, newer, insteadOf: configuration)
      (configuration, saves) = (newer, true)
    }
    if startsAnew { try dropEarlier(client, configuration) }
    let (begun, result): (Transaction, RegistrationState)
    do throws(Failure) {
      (begun, result) = try attempt(&client, &configuration, saves: &saves)
    } catch {
      LastAttempt(
        at: session.now, configurationPath: session.place.configurationPath,
        configuration: saves ? configuration : nil, options: way.provider.words, message: error.message
      ).save()
      throw error
    }
    LastAttempt.forget(about: session.place.configurationPath)
    // The profile is saved only now, so that a mistyped option is not in it.
    if saves, former == nil { try save(configuration) }
    let status: CommandStatus
    switch result {
    case .awaitingConfirmation(let transactionID, let profile):
      tellUnasked(before.profile, profile, since)
      status = try confirm(client, Question(transactionID, profile), of: begun.transactionID)
    case .starting, .unregistered, .authenticating, .active, .renewalFailed, .registrationFailed:
      status = try welcome(client, result)
    }
    if let former { try replace(former, with: configuration) }
    requested = scopes(client)
    return status
  }

  /// Completes the command without another sign-in, if a user is signed in, or if an earlier sign-in waits for the
  /// user's answer.
  /// - Parameter saves: whether the configuration must still be saved as the profile.
  /// - Returns: nil if the user has to sign in.
  private func continued(
    _ client: Client, _ configuration: ConfigurationDocument, _ state: RegistrationState, saves: Bool
  ) throws(Failure) -> CommandStatus? {
    if state.kind != .awaitingConfirmation,
      let other = try session.waitingElsewhere(client, configuration).first
    {
      return try continued(other, client, configuration)
    }
    switch state {
    case .active:
      if saves { try saveChecked(configuration) }
      return try stay(client, state)
    case .awaitingConfirmation(let transactionID, let profile):
      try requireAnswer()
      if saves { try saveChecked(configuration) }
      errors.say("An earlier sign-in waits for your confirmation.")
      return try confirm(client, Question(transactionID, profile))
    case .starting:
      try refuseBesideRenewal(client)
      return nil
    case .unregistered, .authenticating, .renewalFailed, .registrationFailed:
      try requireAnswer()
      return nil
    }
  }

  /// Asks about a sign-in that waits at another client. The profile gets that client when the user has confirmed.
  /// - Parameter client: the profile's client.
  private func continued(
    _ other: OtherWaitingSignIn, _ client: Client, _ profile: ConfigurationDocument
  ) throws(Failure) -> CommandStatus {
    try requireAnswer()
    errors.say("An earlier sign-in waits for your confirmation.")
    let kept = try session.read(client)
    session.close(client)
    let newer = try session.open(other.configuration)
    let status = try confirm(
      newer, Question(other.waiting.transactionID, other.waiting.profile), beside: kept)
    try replace(profile, with: other.configuration)
    return status
  }

  /// Whether the waiting sign-in may have requested other scopes than this command. True if the command names scopes,
  /// and there is no session. False for a resource, because its profile has the scopes of its sign-in.
  private func asksForOther(than kept: AccountSnapshot) -> Bool {
    resource == nil && !way.scopes.isEmpty && kept.waiting != nil && kept.expiresAt == nil
  }

  /// Whether to drop an earlier sign-in that waits for an answer, because a bridge has started this command, and nobody
  /// can answer. The process of the earlier sign-in has ended; otherwise it would have the lock.
  private func dropsQuestion(
    _ client: Client, _ configuration: ConfigurationDocument, _ kept: AccountSnapshot
  ) throws(Failure) -> Bool {
    guard way.dropsWaiting else { return false }
    if kept.waiting != nil { return true }
    return try !session.waitingElsewhere(client, configuration).isEmpty
  }

  /// Drops earlier sign-ins that wait for the user's answer, because the user signs in again.
  private func dropEarlier(_ client: Client, _ configuration: ConfigurationDocument) throws(Failure) {
    for waiting in try session.dropWaiting(client, configuration) {
      errors.say(
        "An earlier sign-in, of \(Shown.person(waiting.profile)), waited for your confirmation and was dropped.",
        in: .warning)
    }
  }

  /// - Throws: `.usage` if nobody can be asked whether the profile is the user's.
  private func requireAnswer() throws(Failure) {
    guard !way.yes, !Terminal.hasPerson else { return }
    throw Failure(
      .usage, "there is no terminal to confirm the user at",
      advice: "--yes confirms the profile without asking.")
  }

  /// Opens a client with the newer configuration. The session of the earlier client ends when the user has
  /// confirmed the new sign-in.
  private mutating func reopen(
    _ client: Client, _ newer: ConfigurationDocument, insteadOf configuration: ConfigurationDocument
  ) throws(Failure) -> Client {
    if former == nil, !newer.hasSameClient(as: configuration) { former = configuration }
    made = newer
    session.close(client)
    return try session.open(newer, makesStore: true)
  }

  /// - Throws: `.unreachable` if a session waits for the provider's answer to its renewal: the session may continue.
  private func refuseBesideRenewal(_ client: Client) throws(Failure) {
    let kept = try session.read(client)
    guard kept.expiresAt != nil else { return }
    throw Failure(
      .unreachable,
      "\(Shown.person(kept.profile)) is signed in, and the provider has not answered the token's renewal",
      advice: "Try again later; \(.loginAgain) signs in again.")
  }

  // MARK: The profile

  /// - Returns: whether the command line's options make a new profile, which is saved later.
  private func prepareProfile() throws(Failure) -> Bool {
    guard let setup else { return made != nil }
    guard try session.place.hasConfiguration() else { return true }
    let present = try checked(try session.configuration(), isGiven: false)
    guard setup.isServed(by: present) else {
      throw Failure(
        .usage,
        "the profile \(session.place.configurationName) is for \(present.issuer) and client \(present.clientID)",
        advice: "Choose another name by --profile, or remove \(session.place.configurationPath).")
    }
    let given = try checked(setup.configuration, isGiven: true)
    guard given.clientSecret == nil || given.clientSecret == present.clientSecret else {
      throw Failure(
        .usage,
        "the profile \(session.place.configurationName) has another client secret than the file, or none",
        advice:
          "Correct clientSecret in \(session.place.configurationPath), or choose another name by --profile.")
    }
    return false
  }

  /// Saves a profile before any sign-in with it. Checks the files that it names, as the start of a sign-in would.
  private func saveChecked(_ document: ConfigurationDocument) throws(Failure) {
    let configuration = try checked(document, isGiven: true)
    do throws(EnrollError) {
      try configuration.checkFiles()
    } catch {
      let file = error.field == "caFile" ? configuration.caFile : configuration.clientKey?.file
      let named = file.map { "\(error.field ?? "") \(Shown.text($0)): " } ?? ""
      throw Failure(error.saying(named + error.message), advice: ProviderSetup.advice(error, of: setup))
    }
    try save(document)
  }

  private func configuration() throws(Failure) -> ConfigurationDocument {
    let isGiven = setup == nil ? made != nil : try !session.place.hasConfiguration()
    let document = way.provider.applied(
      to: isGiven
        ? made ?? setup?.configuration ?? ConfigurationDocument(.null) : try session.configuration()
    )
    let configuration = try checked(document, isGiven: isGiven || !way.provider.settings.isEmpty)
    guard kind == .device || configuration.usesLoopbackRedirect || Terminal.hasPerson else {
      throw Failure(
        .usage, "the redirect \(configuration.redirectURI) leads back to an app, not to this program",
        advice: ProviderSetup.redirectAdvice(isGiven: isGiven))
    }
    return document
  }

  /// - Parameter isGiven: whether the document comes from the command line.
  private func checked(_ document: ConfigurationDocument, isGiven: Bool) throws(Failure)
    -> Configuration
  {
    do throws(EnrollError) {
      return try document.checked()
    } catch {
      throw Failure(error, advice: isGiven ? ProviderSetup.advice(error, of: setup) : session.place.advice)
    }
  }

  // MARK: The attempt

  /// Signs in. If the provider has forgotten a client that this program registered, registers another client, and signs
  /// in with that client.
  private mutating func attempt(
    _ client: inout Client, _ configuration: inout ConfigurationDocument, saves: inout Bool
  ) throws(Failure) -> (begun: Transaction, result: RegistrationState) {
    do throws(Failure) {
      return try attempt(client)
    } catch {
      guard error.error?.field == EnrollError.registrationField, let resource,
        let newer = try resource.renewed(configuration, .forgotten)
      else { throw error }
      errors.say("The provider has forgotten the client; it is registered again.", in: .warning)
      client = try reopen(client, newer, insteadOf: configuration)
      (configuration, saves) = (newer, true)
      return try attempt(client)
    }
  }

  private func attempt(
    _ client: Client
  ) throws(Failure) -> (begun: Transaction, result: RegistrationState) {
    let before = try session.read(client)
    let begun = try begin(client)
    return (begun, try wait(client, begun, before))
  }

  private func begin(_ client: Client) throws(Failure) -> Transaction {
    var options = SignInOptions(kind: kind.transaction, scopes: way.scopes.isEmpty ? nil : scopes(client))
    options.loginHint = way.loginHint
    options.prompt = way.prompt
    options.connection = way.connection
    options.opensLater = way.noBrowser
    let checked = options
    try Failure.wrapping { () throws(EnrollError) in try Self.check(checked) }
    resource?.releasePort()
    return try session.beginSignIn(client, options)
  }

  /// The scopes of the sign-in. For a resource, the scopes of the previous sign-in are kept: without them, the
  /// session would lose access that the user has allowed.
  private func scopes(_ client: Client) -> [String] {
    let earlier = client.configuration.scopes
    guard resource != nil else { return way.scopes.isEmpty ? earlier : way.scopes }
    return Scopes.union(earlier, way.scopes)
  }
}
