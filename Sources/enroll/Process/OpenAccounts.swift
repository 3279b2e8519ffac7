// Opening an account: its client, the passphrase of the store, and the PIN of the account.

import EnrollCommands
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore

/// The clients that this process has open.
struct OpenAccounts {
  private struct OpenAccount {
    let client: Client
    /// The processes that run the client's steps; nil for a client without a store.
    let steps: OrderedSteps?
    /// The number that identifies the observer of the client; nil if nobody observes the client.
    var ticket: Int?
  }

  private var open: [OpenAccount] = []

  mutating func add(_ client: Client, _ steps: OrderedSteps? = nil) {
    open.append(OpenAccount(client: client, steps: steps))
  }

  mutating func observe(_ client: Client, by observer: any EngineObserver) {
    guard let index = index(of: client), open[index].ticket == nil else { return }
    open[index].ticket = client.observe(observer)
  }

  /// Makes the processes that run the client's steps unlock the account with this PIN.
  func use(_ pin: Secret, for client: Client) {
    if let index = index(of: client) { open[index].steps?.use(pin) }
  }

  mutating func remove(_ client: Client) {
    if let index = index(of: client) { Self.stopObserving(open.remove(at: index)) }
  }

  /// Stops observing all clients and forgets them.
  /// - Returns: the clients that were open.
  mutating func removeAll() -> [Client] {
    defer { open = [] }
    for account in open { Self.stopObserving(account) }
    return open.map { $0.client }
  }

  private static func stopObserving(_ account: OpenAccount) {
    if let ticket = account.ticket { account.client.stopObserving(ticket) }
  }

  private func index(of client: Client) -> Int? { open.firstIndex { $0.client === client } }
}

extension Client {
  /// The deadline of a step whose timeout the user does not choose.
  var usualDeadline: Instant { deadline(afterSeconds: 30) }
}

extension CommandSession {
  /// Opens the account. If the account has a PIN, unlocks it with the PIN.
  /// - Parameters:
  ///   - known: the configuration, if it was read before.
  ///   - account: replaces the account of the context.
  ///   - makesStore: whether a missing store is created; otherwise, a missing store means that no user is signed in.
  ///   - asksPIN: whether the user may be asked for the PIN of a locked account.
  func open(
    _ known: ConfigurationDocument? = nil, account: String? = nil, makesStore: Bool = false,
    asksPIN: Bool = true
  ) throws(Failure) -> Client {
    let configuration = if let known { known } else { try self.configuration() }
    if makesStore {
      try place.makeStoreParent()
    } else if try !place.hasStore() {
      throw Failure(.signInNeeded, "no user is signed in: there is no store at \(place.store) yet")
    }
    let client: Client
    do throws(Failure) {
      client = try openClient(configuration, account ?? place.account)
    } catch {
      guard let cause = error.error, cause.code == .configuration else { throw error }
      throw Failure(cause, advice: place.advice)
    }
    try unlock(client, mayAsk: mayAsk && asksPIN)
    return client
  }

  /// Opens the client and reads its account on this thread, because starting another thread takes as long as reading
  /// a stored token.
  /// - Returns: the client, and whether the account was read. If the account could not be read, the next step gets the
  ///   same error.
  /// - Throws: the errors of ``open(_:account:makesStore:asksPIN:)``; `.storeUnusable` for a damaged record, which the
  ///   first read sets aside.
  func openHere() throws(Failure) -> (client: Client, isRead: Bool) {
    try runningHere { () throws(Failure) in
      let client = try open()
      do throws(Failure) {
        _ = try read(client)
        return (client, true)
      } catch {
        if error.error?.code == .storeCorrupt { throw error }
        return (client, false)
      }
    }
  }

  /// A client without a store. When the client is closed, its data is lost.
  func openInMemory(_ configuration: ConfigurationDocument) throws(Failure) -> Client {
    let client = try run { _ throws(EnrollError) in
      try Self.checkIsObject(configuration.json)
      return try Client(ClientOptions(configuration: try configuration.checked(), store: .memory))
    }
    accounts.add(client)
    return client
  }

  /// The stored data about the account.
  func read(_ client: Client) throws(Failure) -> AccountSnapshot {
    try run { _ throws(EnrollError) in try client.readAccount() }
  }

  /// The facts about the client that are known without a request.
  func facts(_ client: Client) throws(Failure) -> ClientFacts {
    try run { _ throws(EnrollError) in try client.facts() }
  }

  /// The state of the account.
  func state(
    _ client: Client, within seconds: Int64, saying words: String? = nil
  ) throws(Failure) -> RegistrationState {
    try run(saying: words) { cancellation throws(EnrollError) in
      try client.registrationState(
        wait: false, until: client.deadline(afterSeconds: seconds), cancellation: cancellation)
    }
  }

  private func openClient(
    _ configuration: ConfigurationDocument, _ account: String
  ) throws(Failure) -> Client {
    do throws(Failure) {
      let client = try opened(configuration, account)
      // Opening the client does not read the key. Reading the account reads the key, and shows whether a passphrase is
      // needed.
      if mayAsk, keys == nil, try isUnderPassphrase(client) {
        close(client)
        keys = try askedPassphrase()
        return try opened(configuration, account)
      }
      return client
    } catch {
      guard mayAsk, keys == nil, error.error?.code == .storeLocked, try storeHasPassphrase() else {
        throw error
      }
      keys = try askedPassphrase()
      return try opened(configuration, account)
    }
  }

  private func opened(_ configuration: ConfigurationDocument, _ name: String) throws(Failure)
    -> Client
  {
    let account = DetachedOrder.Account(
      configuration: configuration.forLibrary, store: place.store, keys: keys ?? .automatic, name: name)
    let steps = OrderedSteps(account)
    let client = try run { _ throws(EnrollError) in
      try Self.checkIsObject(account.configuration)
      try TextLimits.check(account.store, "store", TextLimits.storeFolder)
      try TextLimits.check(account.name, "account", TextLimits.account)
      var options = try account.options()
      options.stepProcesses = steps
      return try Client(options)
    }
    accounts.add(client, steps)
    return client
  }

  private static func checkIsObject(_ configuration: JSON) throws(EnrollError) {
    guard configuration.object == nil else { return }
    throw EnrollError(
      .invalidArgument, "configuration: expected an object, got \(configuration.kind)",
      field: "configuration")
  }

  // MARK: The passphrase

  /// Asks for the passphrase. For a new store it asks twice, because a store with a mistyped passphrase could never
  /// be opened again.
  func askedPassphrase() throws(Failure) -> KeyPlan {
    guard mayAsk else {
      throw Failure(
        .storeLocked, "the store's key is protected by a passphrase, and \(request.reasonNotToAsk)",
        advice: "Pass it by --passphrase-fd.")
    }
    let passphrase = try Prompt.secret("Passphrase of the store", waits)
    if try !place.hasStore() {
      guard try Prompt.secret("The same again", waits) == passphrase else {
        throw Failure(.usage, "the two passphrases differ", advice: "Run the command again.")
      }
    }
    return KeyPlan(.passphrase, passphrase: Secret(passphrase))
  }

  private func isUnderPassphrase(_ client: Client) throws(Failure) -> Bool {
    do throws(Failure) {
      _ = try read(client)
      return false
    } catch {
      guard error.error?.code == .storeLocked, error.error?.field == "keys" else { return false }
      return try storeHasPassphrase()
    }
  }

  private func storeHasPassphrase() throws(Failure) -> Bool {
    try storeDiagnosis()?.keyProviders.contains(PassphraseKeyProvider.providerName) ?? false
  }

  // MARK: The PIN

  /// Unlocks an account with its PIN; without a PIN the account stays locked.
  private func unlock(_ client: Client, mayAsk: Bool) throws(Failure) {
    if let pinFD {
      return try usePIN(try Prompt.secret(from: pinFD, option: "--pin-fd"), client)
    }
    guard mayAsk else { return }
    do throws(Failure) {
      _ = try read(client)
    } catch {
      guard error.error?.code == .storeLocked, error.error?.field == "pin" else { return }
      for last in [false, false, true] {
        let pin = try Prompt.secret("PIN of the account", waits)
        do throws(Failure) { return try usePIN(pin, client) } catch {
          guard !last, error.ending == .storeLocked, error.error == nil else { throw error }
          Terminal.errors.say("! \(error.message)", in: .warning)
        }
      }
    }
  }

  private func usePIN(_ text: String, _ client: Client) throws(Failure) {
    let pin = Secret(text)
    let answer = try run { _ throws(EnrollError) in try client.usePIN(pin, to: .unlock) }
    switch answer.outcome {
    case .unlocked: accounts.use(pin, for: client)
    case .wrong:
      throw Failure(
        .storeLocked,
        "the PIN is wrong; \(answer.triesLeft) tries are left before the account is erased")
    case .tooSoon:
      throw Failure(
        .storeLocked, "too many attempts: wait \(answer.retryAfterSeconds) s before the next PIN")
    case .erased:
      throw Failure(.signInNeeded, "the PIN was wrong too often: the account was erased")
    }
  }
}
