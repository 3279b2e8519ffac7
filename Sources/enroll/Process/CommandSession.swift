// One run of the program, with its context. The steps of EnrollKit run on other threads. Meanwhile the main thread
// turns the spinner and waits for Ctrl-C.

import EnrollCommands
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore

/// A session with the context of its commands. A class, because the whole run shares one session.
final class CommandSession {
  let place: Context
  let isJSON: Bool
  let waits = Waits()
  /// The key provider of the store; nil for the best provider that is available.
  var keys: KeyPlan?
  let pinFD: Int32?
  /// Whether the user may be asked for a passphrase or a PIN.
  let mayAsk: Bool
  var accounts = OpenAccounts()
  private let workers = WorkerPool(threads: CallLimits.blocking)
  private let reports = FailureReports()
  /// The configuration, if this run has read it.
  private(set) var readConfiguration: ConfigurationDocument?
  let request: CommandRequest
  /// Whether steps run on this thread.
  private var runsHere = false
  /// How long the process was stopped by a signal, or frozen, while it waited.
  private(set) var stoppedNanoseconds: Int64 = 0
  private static let lookMilliseconds: Int32 = 200

  /// Whether the command line names the configuration.
  var namesConfiguration: Bool { request.place.namesConfiguration() }

  init(_ request: CommandRequest) throws(Failure) {
    let options = request.place
    place = try Context(options)
    isJSON = options.json
    pinFD = options.pinFD
    self.request = request
    mayAsk = request.mayAsk && Terminal.hasPerson
    keys = try options.keyPlan()
    if options.keys == .passphrase, keys?.passphrase == nil {
      guard mayAsk else {
        throw Failure(
          .storeLocked, "--keys passphrase, and \(request.reasonNotToAsk)",
          advice: "Pass it by --passphrase-fd. Leave --keys out if the key is elsewhere.")
      }
      keys = try askedPassphrase()
    }
  }

  /// Ends the session. Every renewal that was sent is stored when this returns.
  func finish() {
    let clients = accounts.removeAll()
    for client in clients { client.close() }
    for client in clients.dropFirst() { _ = workers.submit { client.drain() } }
    // The first client is drained on this thread, so a single client needs no other thread.
    clients.first?.drain()
    workers.drain()
  }

  /// Seconds since 1970, by this machine's clock.
  var now: Int64 { SystemClock().wallTime().seconds }

  /// The options of this command line that a suggested command must repeat, such as `--profile`.
  var said: Said { Said(request) }

  var instant: Instant { SystemClock().instant() }

  /// The configuration of the context. It is read once, because it may come from a pipe.
  func configuration() throws(Failure) -> ConfigurationDocument {
    if let readConfiguration { return readConfiguration }
    let read = try place.configuration()
    readConfiguration = read
    return read
  }

  // MARK: Steps

  /// Runs a step on another thread, and waits for its result.
  /// - Parameters:
  ///   - words: the spinner's text; nil for none. If the user has already pressed Ctrl-C, a wait with a spinner does
  ///     not begin.
  ///   - tick: called repeatedly during the wait, with the line that the user typed, if any. Returns the lines of a
  ///     warning, or none.
  ///   - step: ends early if it is cancelled, which Ctrl-C does.
  func run<Value: Sendable>(
    saying words: String? = nil, listens: Bool = false, tick: ((_ typed: String?) -> [String])? = nil,
    _ step: @escaping @Sendable (any Cancellation) throws(EnrollError) -> Value
  ) throws(Failure) -> Value {
    if runsHere { return try Failure.wrapping { () throws(EnrollError) in try step(CancellationFlag()) } }
    return try answer(saying: words, listens: listens, tick: tick) { cancellation, done in
      inWorker(done) { () throws(EnrollError) in
        try CallTimeout.until(cancellation: cancellation) { () throws(EnrollError) in try step(cancellation) }
      }
    }
  }

  /// Waits for a result. `start` begins the work, and passes the result to its second argument, on this thread or
  /// another.
  /// - Parameters: as for ``run(saying:listens:tick:_:)``.
  func answer<Value: Sendable>(
    saying words: String? = nil, listens: Bool = false, tick: ((_ typed: String?) -> [String])? = nil,
    _ start: (CancellationFlag, @escaping @Sendable (Result<Value, EnrollError>) -> Void) -> Void
  ) throws(Failure) -> Value {
    if words != nil, waits.isInterrupted { throw Failure(EnrollError(.cancelled, "stopped")) }
    let cancellation = CancellationFlag()
    let answer: Answer<Value> = waits.answer()
    start(cancellation) { answer.put($0) }
    wait(for: { answer.isThere }, cancellation, words, listens, tick)
    return try Failure.wrapping { () throws(EnrollError) in try answer.value() }
  }

  /// Runs `step` on another thread, which passes the result to `done`.
  private func inWorker<Value>(
    _ done: @escaping @Sendable (Result<Value, EnrollError>) -> Void,
    _ step: @escaping @Sendable () throws(EnrollError) -> Value
  ) {
    let isAccepted = workers.submit {
      do throws(EnrollError) { done(.success(try step())) } catch { done(.failure(error)) }
    }
    if !isAccepted { done(.failure(EnrollError.noThread(", or the session is ending"))) }
  }

  private func wait(
    for isThere: () -> Bool, _ cancellation: CancellationFlag, _ words: String?, _ listens: Bool,
    _ tick: ((_ typed: String?) -> [String])?
  ) {
    let spinner = words.map { Spinner($0) }
    defer { spinner?.clear() }
    var ear = listens ? LineReader() : nil
    while !isThere() {
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

  private func warn(_ lines: [String], _ spinner: Spinner?) {
    guard let first = lines.first else { return }
    spinner?.clear()
    Terminal.errors.say("! \(first)", in: .warning)
    for line in lines.dropFirst() { Terminal.errors.say("  \(line)") }
  }

  /// Runs `body` with its steps on this thread. It is for steps that send no request: starting another thread would
  /// take longer than the steps. A signal ends the process at once.
  func runningHere<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    runsHere = true
    defer { runsHere = false }
    return try Interrupts.endingAtOnce(body)
  }

  /// Waits for this time.
  /// - Throws: `.cancelled` after the user pressed Ctrl-C.
  func pause(seconds: Int64) throws(Failure) { try pause(milliseconds: seconds * 1000) }

  /// As ``pause(seconds:)``.
  func pause(milliseconds: Int64) throws(Failure) {
    let end = Instant(nanoseconds: instant.nanoseconds + milliseconds * 1_000_000)
    while true {
      guard !waits.isInterrupted else { throw Failure(EnrollError(.cancelled, "stopped")) }
      let left = end.since(instant) / 1_000_000
      guard left > 0 else { return }
      _ = next(milliseconds: min(Int32(clamping: left), Self.lookMilliseconds))
    }
  }

  /// Waits for one event. If the wait takes a second longer than its limit, the process was stopped: the delays of a
  /// busy machine are shorter.
  private func next(milliseconds: Int32, listens: Bool = false) -> Waits.Event {
    let begun = instant
    defer {
      let excess = instant.since(begun) - Int64(milliseconds) * 1_000_000
      if excess > 1_000_000_000 { stoppedNanoseconds += excess }
    }
    return waits.next(milliseconds: milliseconds, listens: listens)
  }

  // MARK: The store

  /// The names of the accounts in the store, sorted.
  func accountNames() throws(Failure) -> [String] {
    let (store, keys) = (place.store, keys ?? .automatic)
    return try run { _ throws(EnrollError) in
      try TextLimits.check(store, "store", TextLimits.storeFolder)
      return try FileTokenStore.accountNames(path: store, keys: keys)
    }
  }

  /// Examines the store.
  /// - Returns: nil if there is no store.
  func storeDiagnosis(saying words: String? = nil) throws(Failure) -> StoreDiagnosis? {
    let (store, keys) = (place.store, keys ?? .automatic)
    return try run(saying: words) { _ throws(EnrollError) in
      try TextLimits.check(store, "store", TextLimits.storeFolder)
      return try StoreDiagnosis.examine(path: store, keys: keys)
    }
  }

  // MARK: Failures of a sign-in that continues

  /// Keeps the failures that the client reports from now on, for ``reportedLines()``.
  func observe(_ client: Client) { accounts.observe(client, by: reports) }

  /// Closes the client, and frees its descriptors: a command may open thousands of accounts.
  func close(_ client: Client) {
    accounts.remove(client)
    client.close()
    // A renewal that was sent is stored before the process ends: finish() waits for this job.
    _ = workers.submit { client.drain() }
  }

  /// The lines about a failure after which the sign-in continues, once for each failure. The failure of a sign-in that
  /// has ended is not included, because the call that waits for that sign-in reports its failure.
  func reportedLines() -> [String]? {
    guard let error = reports.removeLast(), error.helps != .registerAgain else { return nil }
    // The provider's own error code is left out, because its advice is for a sign-in that has ended, and this sign-in
    // continues. Only the field selects the advice.
    let failure = Failure(EnrollError(error.code, error.message, field: error.field))
    return ["The sign-in waits and is tried again: \(Shown.message(failure.message))"]
      + (failure.advice.map { [$0.text(said)] } ?? [])
  }
}

/// Keeps the last failure that a client reported, until the main thread removes it.
private final class FailureReports: EngineObserver {
  private let last = Guarded<EnrollError?>(nil, by: Mutex())

  func observe(_ notification: EnrollEvent) {
    switch notification {
    case .errorReported(let error): last.withLock { $0 = error }
    case .registrationChanged, .registrationSettled, .tokenRenewed, .tokenRenewalFailed, .logoutFinished:
      break
    }
  }

  func removeLast() -> EnrollError? {
    last.withLock { last in
      defer { last = nil }
      return last
    }
  }
}
