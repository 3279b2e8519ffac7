// The Swift face. Every method is `async`, none holds a thread of the cooperative pool: the blocking steps run on the
// client's own threads, and a cancelled task ends its wait, never a renewal whose answer must not be lost.

public import EnrollCore
import EnrollCrypto
import EnrollHost
public import EnrollJSON

/// One account of one provider: registers and signs its user in, and has a valid token whenever one is asked for.
///
/// ```swift
/// let client = try EnrollClient(
///   configuration: Configuration(
///     issuer: "https://id.example", clientID: "app", redirectURI: "com.example.app:/callback"),
///   store: .directory("/home/me/.local/share/app"))
/// let begun = try await client.begin()              // open begun.url in the browser
/// let state = try await client.resume(redirectURL)  // when it comes back
/// let token = try await client.accessToken()        // before every request, for months
/// ```
public struct EnrollClient: Sendable {
  private let client: Client

  /// How long a call waits where its caller does not say.
  public static let defaultPatience = Duration.seconds(60)

  /// Opens an account.
  /// - Parameters:
  ///   - configuration: the provider, and the app as it knows it.
  ///   - store: where tokens are kept; there is no default path.
  ///   - keys: who guards the key of a store that is a directory. The desktop's keyring has to be asked for: it brings
  ///     GLib's threads into the process.
  ///   - account: its name in the store; at another issuer or for another client id it is another account.
  ///   - platform: what the host knows of the device.
  ///   - waitsForPlatform: calls that ask for the registration wait for ``platformReady()``.
  ///   - renewsInBackground: tokens are renewed a little before they are due, whether anybody asks or not, until
  ///     ``close()``. Otherwise the first call that finds them due renews them.
  ///   - transport: the host's own; nil for libcurl.
  ///   - clock: the host's own; nil for the system's.
  ///   - log: gets a line for what the client does, without secrets; nil: nobody does.
  ///   - random: the host's own; nil for the system's.
  /// - Throws: `.storeRefused`, `.storeIO` and its kin when the store cannot be used.
  public init(
    configuration: Configuration, store: Store, keys: KeyPlan = .file, account: AccountName = .default,
    platform: Platform = Platform(), waitsForPlatform: Bool = false, renewsInBackground: Bool = false,
    transport: (any Transport)? = nil, clock: (any Clock)? = nil, log: (any LogHandler)? = nil,
    random: (any RandomSource)? = nil
  ) throws(EnrollError) {
    var options = ClientOptions(configuration: configuration, store: store.choice)
    options.keys = keys
    options.account = account
    options.platform = platform
    options.isPlatformReady = !waitsForPlatform
    options.renewsInBackground = renewsInBackground
    options.transport = transport
    options.clock = clock
    options.log = log
    options.random = random
    client = try Client(options)
  }

  /// Where tokens are kept.
  public enum Store: Sendable {
    /// Sealed files in a directory of their own, given by its absolute path; made when its parent exists.
    case directory(String)
    /// Gone with the client: for tests and previews.
    case memory
    /// The host's own.
    case custom(any TokenStore)

    fileprivate var choice: ClientOptions.StoreChoice {
      switch self {
      case .directory(let path): .directory(path)
      case .memory: .memory
      case .custom(let store): .custom(store)
      }
    }
  }

  /// No core dump of this process is written, and no debugger of the same user may look, until it runs another program.
  /// For a program of its own; an app leaves that to its system.
  /// - Throws: `.unsupported` where the system refuses.
  public static func hideProcessMemory() throws(EnrollError) { try ProcessMemory.hide() }

  /// The host's platform is ready: calls that waited for it go on.
  public func platformReady() { client.platformReady() }

  /// Ends the client: waiting calls return, later ones throw `.handle`.
  public func close() { client.close() }

  // MARK: Registration

  /// Where the registration stands; a token that is due is renewed first.
  /// - Parameters:
  ///   - settled: wait until nothing more happens without the host or the user.
  ///   - patience: how long it may take.
  /// - Throws: `.deadlineExceeded` when `patience` ends first, store errors.
  public func state(
    settled: Bool = false, patience: Duration = defaultPatience
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.registrationState(wait: settled, until: deadline, cancellation: cancellation)
    }
  }

  /// The states from now on, beginning with the present one as last known. A slow reader gets the newest.
  public var states: AsyncStream<RegistrationState> {
    let client = client
    return AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      let ticket = client.observe(
        Observer { if case .registrationChanged(let state) = $0 { continuation.yield(state) } })
      continuation.yield(client.lastKnownState)
      continuation.onTermination = { _ in client.stopObserving(ticket) }
    }
  }

  /// Everything that the client has to tell from now on: renewals, failures, states. A slow reader gets the newest.
  public var events: AsyncStream<EnrollEvent> {
    let client = client
    return AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let ticket = client.observe(Observer { continuation.yield($0) })
      continuation.onTermination = { _ in client.stopObserving(ticket) }
    }
  }

  /// Begins a sign-in: open the URL of its action in the external browser.
  /// - Throws: `.network` and its kin when the provider cannot be asked, `.illegalState`, store errors.
  public func begin(
    _ options: SignInOptions = SignInOptions(), patience: Duration = defaultPatience
  ) async throws(EnrollError) -> BegunTransaction {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.begin(options, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes the redirect back, in this process or a later one.
  /// - Parameters:
  ///   - url: as it came from the system, whole.
  ///   - transactionID: the transaction that the host takes it for; needed only for a return without `state` when
  ///     several are pending (another app's, say).
  ///   - patience: how long it may take.
  /// - Throws: why it settles nothing (`.unsolicited`, `.redirectMismatch`, `.alreadySettled`, …: nothing changed), or
  ///   why its sign-in failed (`.accessDenied`, `.loginRequired`, `.idTokenInvalid`, …).
  public func resume(
    _ url: String, transactionID: String? = nil, patience: Duration = defaultPatience
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.resume(url, transactionID: transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes the one-time code that the user typed after ``HostAction/enterCode(recipient:)``.
  /// - Throws: `.codeRejected` when it is wrong, and the transaction waits for another; `.accessDenied` when it was wrong
  ///   too often, `.oauth` when the provider takes no more: both end it; `.network` and its kin: send it again.
  public func submitCode(
    _ code: String, of transactionID: String, patience: Duration = defaultPatience
  ) async throws(EnrollError) -> RegistrationState {
    let code = Secret(code)
    return try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.submitCode(
        code, transactionID: transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Waits until a sign-in is settled: with a loopback redirect, nothing else has to be done.
  /// - Throws: what made it fail; `.transactionExpired`; `.deadlineExceeded` when `patience` ends first.
  public func settled(
    _ transaction: BegunTransaction, patience: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    try await settled(transaction.transactionID, patience: patience)
  }

  /// Waits until a transaction is settled, in this process or a later one: by its redirect or, with
  /// ``HostAction/showDeviceCode(_:)``, by the user elsewhere, about which the provider is asked meanwhile.
  /// - Parameters:
  ///   - transactionID: ``BegunTransaction/transactionID``.
  ///   - patience: how long it may take.
  /// - Throws: as ``settled(_:patience:)-(BegunTransaction,_)``; `.notFound` for an unknown transaction.
  public func settled(
    _ transactionID: String, patience: Duration = .seconds(600)
  ) async throws(EnrollError) -> RegistrationState {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.awaitTransaction(transactionID, until: deadline, cancellation: cancellation)
    }
  }

  /// Takes a link that reached the app: the one in the e-mail of a registration, or the fallback link. Each leads on
  /// once, and only while a transaction of ours waits for it.
  /// - Throws: `.redirectMalformed`, `.redirectMismatch` for a link that is none of ours, `.illegalState`, `.network` and
  ///   its kin (the link is not used up then), store errors.
  public func handleLink(_ url: String, patience: Duration = defaultPatience) async throws(EnrollError)
    -> LinkOutcome
  {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      try client.handleLink(url, until: deadline, cancellation: cancellation)
    }
  }

  /// One door for every URL that reaches the app: redirect, logout callback, activation or fallback link, or none of
  /// ours.
  public func handle(_ url: String, patience: Duration = defaultPatience) async throws(EnrollError)
    -> HandledURL
  {
    try await offload(patience) { client, deadline, cancellation throws(EnrollError) in
      switch try client.handle(url, until: deadline, cancellation: cancellation) {
      case .registration(let state): .registration(state)
      case .logoutFinished: .logoutFinished
      case .begun(let begun): .begun(begun)
      case .refused(let refusal): .refused(refusal)
      case .unsolicited: .unsolicited
      }
    }
  }

  /// What came of a URL.
  public enum HandledURL: Equatable, Sendable {
    /// It was a redirect, or an activation link that stood for one: here is where the registration stands.
    case registration(RegistrationState)
    /// It was the callback of a logout of ours.
    case logoutFinished
    /// Open the URL of its action: a link led on.
    case begun(BegunTransaction)
    /// A link led nowhere.
    case refused(LinkRefusal)
    /// Nothing of ours waits for it: leave it to the rest of the app.
    case unsolicited
  }

  /// The user says that the profile is theirs: the provisional tokens become the session.
  /// - Throws: `.illegalState` when nothing waits for confirmation; `.emailNotVerified`, `.unknownAccount`, or why the
  ///   registration check could not be asked: the state stays G. `.profileMismatch`: F; `.oauth`: E.
  @discardableResult
  public func confirm() async throws(EnrollError) -> RegistrationState {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.confirm(until: deadline, cancellation: cancellation)
    }
  }

  /// Back to the choices: provisional tokens are revoked and cleared, an earlier session survives.
  @discardableResult
  public func retry() async throws(EnrollError) -> RegistrationState {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.retry(until: deadline, cancellation: cancellation)
    }
  }

  /// The user closed the browser: a hint, a late valid redirect still wins until the deadline. A registration waits for
  /// the link in the user's e-mail from then on.
  @discardableResult
  public func cancel(_ transaction: BegunTransaction? = nil) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.cancel(transaction?.transactionID) }
  }

  /// The same, in a later process.
  /// - Parameter transactionID: ``BegunTransaction/transactionID``.
  @discardableResult
  public func cancel(_ transactionID: String) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.cancel(transactionID) }
  }

  /// The link of ``HostAction/openOtherApp(_:)`` could not be opened: there is no such app on the device.
  /// - Returns: the state F, or the session beside which the transaction ran.
  /// - Throws: `.notFound`, `.illegalState` for another kind of transaction, `.alreadySettled`, `.transactionExpired`.
  @discardableResult
  public func otherAppMissing(_ transactionID: String) async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.otherAppMissing(transactionID) }
  }

  /// A logout that forgets the device too: pending transactions are cleared, the installation id is reset.
  /// - Returns: as ``logout(localOnly:)``.
  @discardableResult
  public func deregister() async throws(EnrollError) -> String? {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.deregister(until: deadline, cancellation: cancellation)
    }
  }

  /// Forgets the installation id of the store: the next use makes another.
  public func resetInstallation() async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.resetInstallation() }
  }

  /// Empties local state alone; no server is told.
  @discardableResult
  public func clear() async throws(EnrollError) -> RegistrationState {
    try await offload { client, _, _ throws(EnrollError) in try client.clear() }
  }

  // MARK: Tokens

  /// What to do with the next request: a valid token, or why there is none. Costs nothing while the token is fresh.
  /// - Parameters:
  ///   - minimumLifetime: how long the caller needs the token to live; whole seconds count.
  ///   - patience: how long it may take; afterwards a token that still works is served, or `busy`.
  public func access(
    minimumLifetime: Duration = .zero, patience: Duration = defaultPatience
  ) async throws(EnrollError) -> AccessOutcome {
    let seconds = minimumLifetime.components.seconds
    if let token = client.freshAccessToken(minimumLifetimeSeconds: seconds) { return .valid(token) }
    return try await completed(patience) { client, deadline, cancellation, done in
      client.access(
        minimumLifetimeSeconds: seconds, until: deadline, cancellation: cancellation, completion: done)
    }
  }

  /// The access token for the next request, valid now.
  /// - Throws: `.reauthenticate` when the user has to sign in, `.expired` while the provider cannot be reached,
  ///   `.rejected`, `.storeLocked`, `.busy`.
  public func accessToken(minimumLifetime: Duration = .zero) async throws(EnrollError) -> String {
    try await access(minimumLifetime: minimumLifetime).token().value.reveal()
  }

  /// Renews now, whatever the token's age.
  @discardableResult
  public func refresh(patience: Duration = defaultPatience) async throws(EnrollError) -> AccessOutcome {
    try await completed(patience) { client, deadline, cancellation, done in
      client.refresh(until: deadline, cancellation: cancellation, completion: done)
    }
  }

  /// What the provider says of one of the session's tokens: `active`, and what else it tells (RFC 7662 §2.2).
  /// - Throws: `.unsupported` without an endpoint, `.notFound` without such a token, `.oauth` when the provider tells
  ///   this client nothing.
  public func introspect(
    _ subject: Introspection.Subject = .accessToken
  ) async throws(EnrollError) -> JSONObject {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.introspect(subject, until: deadline, cancellation: cancellation)
    }
  }

  /// The proof for one request of yours that carries an access token of type `DPoP` (``AccessToken/tokenType``):
  /// `Authorization: DPoP TOKEN` and `DPoP: PROOF` (RFC 9449 §7.1). Asks nobody.
  /// - Parameters:
  ///   - method: as it is sent.
  ///   - url: of the request, https, without a fragment; its query does not count (RFC 9449 §4.2).
  ///   - nonce: what the server demanded in `DPoP-Nonce`; nil: the last one of that server.
  ///   - accessToken: the one that the request carries; nil: the present one.
  /// - Throws: `.invalidArgument`; `.illegalState` for a Bearer token, which needs none; `.reauthenticate`.
  public func dpopProof(
    method: String, url: String, nonce: String? = nil, accessToken: Secret? = nil
  ) async throws(EnrollError) -> String {
    try await offload { client, _, _ throws(EnrollError) in
      try client.dpopProof(method: method, url: url, nonce: nonce, accessToken: accessToken)
    }
  }

  /// Tells the server to forget the session's tokens, and forgets them here.
  public func revoke() async throws(EnrollError) {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.revoke(until: deadline, cancellation: cancellation)
    }
  }

  // MARK: Identity

  /// The proven claims of whoever is signed in, or waits for confirmation.
  /// - Throws: `.notFound` when nobody is.
  public func profile() async throws(EnrollError) -> JSONObject {
    try await offload { client, _, _ throws(EnrollError) in try client.profile() }
  }

  /// What the userinfo endpoint says now. - Throws: `.profileMismatch` when it speaks of somebody else (R28).
  public func userinfo() async throws(EnrollError) -> JSONObject {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.userinfo(until: deadline, cancellation: cancellation)
    }
  }

  /// All that is kept of the account, but never the refresh token.
  public func account() async throws(EnrollError) -> AccountSnapshot {
    try await offload { client, _, _ throws(EnrollError) in try client.readAccount() }
  }

  /// Everything that support needs, as JSON for people: versions, configuration, provider, state, expiries, store,
  /// transactions and the last errors; no token, code, key or PIN, and nothing about the user. Asks nobody.
  public func diagnostics() async throws(EnrollError) -> JSONObject {
    try await offload { client, _, _ throws(EnrollError) in try client.diagnostics() }
  }

  // MARK: PIN

  /// Guards what is kept of the account with a PIN of 4 to 64 bytes; it stays open in this process, and every other one
  /// gets `.storeLocked` until ``unlock(pin:)``. Whoever holds the store's key can try all short PINs. Ends the step
  /// `pin`: the profile that waited for it is shown or, without confirmation, confirmed.
  /// - Throws: `.illegalState` when it has one, or nothing is kept yet; `.unsupported` for a store in memory.
  public func setPIN(_ pin: Secret) async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.setPIN(pin) }
  }

  /// Opens the account in this process. A wrong PIN is an answer; the last wrong one erases the account.
  /// - Throws: `.illegalState` when it has no PIN.
  public func unlock(pin: Secret) async throws(EnrollError) -> PINAnswer {
    try await offload { client, _, _ throws(EnrollError) in try client.usePIN(pin, to: .unlock) }
  }

  /// Replaces the PIN. - Throws: as ``unlock(pin:)``.
  public func changePIN(_ pin: Secret, to new: Secret) async throws(EnrollError) -> PINAnswer {
    try await offload { client, _, _ throws(EnrollError) in try client.usePIN(pin, to: .replace(new)) }
  }

  /// Takes the PIN away. - Throws: as ``unlock(pin:)``.
  public func removePIN(_ pin: Secret) async throws(EnrollError) -> PINAnswer {
    try await offload { client, _, _ throws(EnrollError) in try client.usePIN(pin, to: .remove) }
  }

  // MARK: Logout

  /// Erases the session here, then tells the server.
  /// - Returns: the URL that ends the provider's own session in the browser; nil when there is none.
  @discardableResult
  public func logout(localOnly: Bool = false) async throws(EnrollError) -> String? {
    try await offload { client, deadline, cancellation throws(EnrollError) in
      try client.beginLogout(localOnly: localOnly, until: deadline, cancellation: cancellation)
    }
  }

  /// The logout callback came back. - Throws: `.unsolicited` when no logout of ours waits for it.
  public func finishLogout(_ url: String) async throws(EnrollError) {
    try await offload { client, _, _ throws(EnrollError) in try client.finishLogout(url) }
  }

  // MARK: Threads

  private typealias Step<Result> =
    @Sendable (Client, Instant, any Cancellation) throws(EnrollError) -> Result

  /// Runs a blocking step on the client's own threads.
  private func offload<Result: Sendable>(
    _ patience: Duration = defaultPatience, _ step: @escaping Step<Result>
  ) async throws(EnrollError) -> Result {
    try await completed(patience) { client, deadline, cancellation, done in
      let isStarted = client.perform {
        do throws(EnrollError) {
          done(.success(try step(client, deadline, cancellation)))
        } catch {
          done(.failure(error))
        }
      }
      if !isStarted { done(.failure(EnrollError(.busy, "the system has no thread to give"))) }
    }
  }

  /// Waits for a completion; a cancelled task cancels the wait.
  private func completed<Value: Sendable>(
    _ patience: Duration,
    _ start: (Client, Instant, CancellationFlag, @escaping @Sendable (Result<Value, EnrollError>) -> Void) ->
      Void
  ) async throws(EnrollError) -> Value {
    let cancellation = CancellationFlag()
    let deadline = client.deadline(afterSeconds: max(0, patience.components.seconds))
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        start(client, deadline, cancellation) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }
}

extension BegunTransaction {
  /// What is to be opened: empty where the host has nothing to open, but something to ask (``HostAction/enterCode(recipient:)``).
  public var url: String { action.url ?? "" }
}

/// A closure that observes.
private final class Observer: EngineObserver {
  private let body: @Sendable (EnrollEvent) -> Void

  init(_ body: @escaping @Sendable (EnrollEvent) -> Void) { self.body = body }

  func observe(_ notification: EnrollEvent) { body(notification) }
}
