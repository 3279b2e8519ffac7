// The one way to EnrollKit: commands of the surface by their names, on the session's threads, while this thread turns the
// spinner and listens for Ctrl-C.

import EnrollCommands
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

/// A session, and where its commands find configuration, store and keys. A class because it is one for the whole run.
final class CommandSession {
  let place: Context
  let isJSON: Bool
  let waits = Waits()
  private let session: Session
  private let reported: Guarded<JSON?>
  private var keys: JSON?
  private var readConfiguration: JSON?
  private let pinFD: Int32?
  /// Whether a person may be asked for a passphrase or a PIN.
  private let mayAsk: Bool
  private let request: CommandRequest
  /// Whether calls run on this thread.
  private var runsHere = false
  /// For how long the process did not run while it waited: stopped by a signal, or frozen.
  private(set) var stoppedNanoseconds: Int64 = 0
  private static let lookMilliseconds: Int32 = 200

  init(_ request: CommandRequest) throws(Failure) {
    let reported = Guarded<JSON?>(nil, by: Mutex())
    self.reported = reported
    session = Session(DetachedCommand.environment) { name, event in
      if ASCII.equals(name, "error.reported") { reported.withLock { $0 = event } }
    }
    let options = request.place
    place = try Context(options)
    isJSON = options.json
    pinFD = options.pinFD
    self.request = request
    mayAsk = request.mayAsk && Terminal.hasPerson
    keys = try options.keysParameter()
    if options.keys == .passphrase, keys?["passphrase"] == nil {
      guard mayAsk else {
        throw Failure(
          .storeLocked, "--keys passphrase, and there is no terminal to ask for it",
          advice: "Pass it by --passphrase-fd. Leave --keys out if the key is elsewhere.")
      }
      keys = try askedPassphrase()
    }
  }

  /// Every renewal that was sent is stored once this returns.
  func finish() { session.finish() }

  /// Seconds since 1970, by this machine's clock.
  var now: Int64 { SystemClock().wallTime().seconds }

  /// The options that hints repeat.
  var said: Said { Said(request) }

  var instant: Instant { SystemClock().instant() }

  // MARK: Calls

  /// Runs a command, and waits for its end.
  /// - Parameters:
  ///   - words: the spinner's text; nil for none. A wait with a spinner does not begin after the user pressed Ctrl-C.
  ///   - startsHere: whether this thread may begin it: nothing that it needs from the store is waited for.
  ///   - tick: asked now and then while it waits, with the line that was typed, if one was; gives the lines of a warning, or none.
  func call(
    _ name: String, _ parameters: [(String, JSON?)] = [], saying words: String? = nil,
    listens: Bool = false, startsHere: Bool = false, tick: ((_ typed: String?) -> [String])? = nil
  ) throws(Failure) -> JSON {
    if runsHere { return try callHere(name, parameters) }
    guard let command = CommandTable.command(name) else {
      throw Failure(EnrollError(.internal, "there is no command \(name)"))
    }
    if words != nil, waits.isInterrupted { throw Failure(EnrollError(.cancelled, "stopped")) }
    let cancellation = CancellationFlag()
    let answer = waits.answer()
    let spinner = words.map { Spinner($0) }
    defer { spinner?.clear() }
    var ear = listens ? LineReader() : nil
    session.start(command, .object(parameters), cancellation: cancellation, startsHere: startsHere) {
      answer.put($0)
    }
    while true {
      if let result = answer.taken {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw Failure(error)
        }
      }
      spinner?.turn()
      switch next(milliseconds: spinner?.milliseconds ?? Self.lookMilliseconds, listens: ear != nil) {
      case .answer, .watched: break
      case .interrupt: cancellation.cancel()
      case .tick: warn(tick?(nil) ?? [], spinner)
      case .typed:
        let line = ear?.read()
        if ear?.isAtEnd ?? false { ear = nil }
        if let line { warn(tick?(line) ?? [], spinner) }
      }
    }
  }

  /// A failure that a sign-in waits behind, told once: that of a sign-in which has ended is told by whoever awaits it.
  func reportedLines() -> [String]? {
    let event = reported.withLock { event in
      defer { event = nil }
      return event
    }
    guard event?["helps"]?.string != EnrollError.Help.registerAgain.rawValue,
      let code = EnrollError.Code(named: event?["error"]?["status"]?.string)
    else { return nil }
    let failure = Failure(EnrollError(code, event?["error"]?["message"]?.string ?? ""))
    return ["The sign-in waits and is tried again: \(Shown.text(failure.message))"]
      + (failure.advice.map { [$0.text(said)] } ?? [])
  }

  /// Waits.
  /// - Throws: `.cancelled` once the user asked for the end.
  func pause(seconds: Int64) throws(Failure) {
    let end = instant.advanced(bySeconds: seconds)
    while true {
      guard !waits.isInterrupted else { throw Failure(EnrollError(.cancelled, "stopped")) }
      let left = end.since(instant) / 1_000_000
      guard left > 0 else { return }
      _ = next(milliseconds: min(Int32(clamping: left), Self.lookMilliseconds))
    }
  }

  /// One wait. Where it takes a second longer than its time, the process was stopped: a busy machine adds less.
  private func next(milliseconds: Int32, listens: Bool = false) -> Waits.Event {
    let begun = instant
    defer {
      let excess = instant.since(begun) - Int64(milliseconds) * 1_000_000
      if excess > 1_000_000_000 { stoppedNanoseconds += excess }
    }
    return waits.next(milliseconds: milliseconds, listens: listens)
  }

  private func callHere(_ name: String, _ parameters: [(String, JSON?)]) throws(Failure) -> JSON {
    do throws(EnrollError) { return try session.call(name, .object(parameters)) } catch {
      throw Failure(error)
    }
  }

  /// Opens the client and reads its account on this thread: another one would cost as much as a stored token does.
  /// - Returns: the client's handle, and whether the account was read. The command that follows meets what keeps it from being read.
  /// - Throws: what ``open()`` throws; `.storeUnusable` for a damaged record, which is set aside by the first read.
  func openHere() throws(Failure) -> (client: JSON, isRead: Bool) {
    runsHere = true
    defer { runsHere = false }
    return try Interrupts.endingAtOnce { () throws(Failure) in
      let client = try open()
      do throws(Failure) {
        _ = try call("account.read", [("client", client)])
        return (client, true)
      } catch {
        if error.error?.code == .storeCorrupt { throw error }
        return (client, false)
      }
    }
  }

  private func warn(_ lines: [String], _ spinner: Spinner?) {
    guard let first = lines.first else { return }
    spinner?.clear()
    Terminal.errors.say("! \(first)", in: .warning)
    for line in lines.dropFirst() { Terminal.errors.say("  \(line)") }
  }

  /// As ``call(_:_:saying:listens:tick:)``, from within its `tick`, where nothing is drawn.
  func callInPassing(_ name: String, _ parameters: [(String, JSON?)]) -> EnrollError? {
    do throws(EnrollError) {
      _ = try session.call(name, .object(parameters))
      return nil
    } catch {
      return error
    }
  }

  /// The place's configuration, read once: what comes through a pipe comes once.
  func configuration() throws(Failure) -> JSON {
    if let readConfiguration { return readConfiguration }
    let read = try place.configuration()
    readConfiguration = read
    return read
  }

  /// The parameters of commands about the whole store.
  var storeParameters: [(String, JSON?)] { [("store", .string(place.store)), ("keys", keys)] }

  // MARK: Clients

  /// Opens the account, and its PIN if it has one.
  /// - Parameters:
  ///   - known: the configuration, where it was read before.
  ///   - account: instead of the place's.
  ///   - makesStore: whether a store that is not there is made, or means that nobody is signed in.
  ///   - asksPIN: whether an account under a PIN is worth a question.
  /// - Returns: the client's handle.
  func open(
    _ known: JSON? = nil, account: String? = nil, makesStore: Bool = false, asksPIN: Bool = true
  ) throws(Failure) -> JSON {
    let configuration = if let known { known } else { try self.configuration() }
    if makesStore {
      try place.makeStoreParent()
    } else if try !place.hasStore() {
      throw Failure(.signInNeeded, "no user is signed in: there is no store at \(place.store) yet")
    }
    let client: JSON
    do throws(Failure) {
      client = try openClient(configuration, account ?? place.account)
    } catch {
      guard let cause = error.error, cause.code == .configuration else { throw error }
      throw Failure(cause, advice: place.advice)
    }
    try unlock(client, mayAsk: mayAsk && asksPIN)
    return client
  }

  /// Frees its descriptors: a command may go over thousands of accounts.
  func close(_ client: JSON) { _ = try? call("client.close", [("client", client)]) }

  private func openClient(_ configuration: JSON, _ account: String) throws(Failure) -> JSON {
    func opened() throws(Failure) -> JSON {
      let answer = try call(
        "client.open",
        [
          ("configuration", configuration), ("store", .string(place.store)), ("keys", keys),
          ("account", .string(account)),
        ])
      return answer["client"] ?? .null
    }
    do throws(Failure) {
      let client = try opened()
      // Opening reads no key; reading does, and says whether a passphrase is wanted.
      if mayAsk, keys == nil, try isUnderPassphrase(client) {
        close(client)
        keys = try askedPassphrase()
        return try opened()
      }
      return client
    } catch {
      guard mayAsk, keys == nil, error.error?.code == .storeLocked, try storeHasPassphrase() else {
        throw error
      }
      keys = try askedPassphrase()
      return try opened()
    }
  }

  /// For a new store it is asked twice: nobody can open what was mistyped.
  private func askedPassphrase() throws(Failure) -> JSON {
    guard mayAsk else {
      throw Failure(
        .storeLocked, "the store's key is protected by a passphrase, and there is no terminal to ask for it",
        advice: "Pass it by --passphrase-fd.")
    }
    let passphrase = try Prompt.secret("Passphrase of the store", waits)
    if try !place.hasStore() {
      guard try Prompt.secret("The same again", waits) == passphrase else {
        throw Failure(.usage, "the two passphrases differ", advice: "Run the command again.")
      }
    }
    return PlaceOptions.passphraseKeys(passphrase)
  }

  private func isUnderPassphrase(_ client: JSON) throws(Failure) -> Bool {
    do throws(Failure) {
      _ = try call("account.read", [("client", client)])
      return false
    } catch {
      guard error.error?.code == .storeLocked, error.error?.field == "keys" else { return false }
      return try storeHasPassphrase()
    }
  }

  private func storeHasPassphrase() throws(Failure) -> Bool {
    let found = try call("store.diagnose", storeParameters)
    return found["keyProviders"]?.array?.contains(.string("passphrase")) ?? false
  }

  /// Opens an account that is shut by its PIN; leaves it shut where nobody gave one.
  private func unlock(_ client: JSON, mayAsk: Bool) throws(Failure) {
    if let pinFD {
      return try usePIN(try Prompt.secret(from: pinFD, option: "--pin-fd"), client, isLast: true)
    }
    guard mayAsk else { return }
    do throws(Failure) {
      _ = try call("account.read", [("client", client)])
    } catch {
      guard error.error?.code == .storeLocked, error.error?.field == "pin" else { return }
      for last in [false, false, true] {
        let pin = try Prompt.secret("PIN of the account", waits)
        do throws(Failure) { return try usePIN(pin, client, isLast: last) } catch {
          guard !last, error.ending == .storeLocked, error.error == nil else { throw error }
          Terminal.errors.say("! \(error.message)", in: .warning)
        }
      }
    }
  }

  private func usePIN(_ pin: String, _ client: JSON, isLast: Bool) throws(Failure) {
    let answer = try call("pin.unlock", [("client", client), ("pin", .string(pin))])
    let left = answer["triesLeft"]?.integer ?? 0
    switch answer["outcome"]?.string ?? "" {
    case "unlocked": return
    case "wrong":
      throw Failure(.storeLocked, "the PIN is wrong; \(left) tries are left before the account is erased")
    case "tooSoon":
      throw Failure(
        .storeLocked, "too many attempts: wait \(answer["retryAfter"]?.integer ?? 0) s before the next PIN")
    default: throw Failure(.signInNeeded, "the PIN was wrong too often: the account was erased")
    }
  }
}
