// `--login`: if nobody is signed in, the command starts a sign-in and waits for it. As for a bridge, the sign-in runs
// in a separate process: the program that asked may be killed meanwhile, and all other commands wait for the same
// sign-in. If there is a terminal but no browser, the sign-in runs at the terminal.

import CPosix
import EnrollCrypto
import EnrollPosix
import EnrollRules
import EnrollSteps

struct LoginOnDemand {
  private static let seconds: Int64 = 180
  /// For how many seconds no sign-in starts automatically after the user declined a sign-in, or a sign-in failed.
  private static let restSeconds: Int64 = 30

  let session: CommandSession
  let request: CommandRequest

  /// Runs `body`; if nobody is signed in, signs in and runs it again.
  static func around<Value>(
    _ session: CommandSession, _ request: CommandRequest, isWanted: Bool, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard isWanted else { return try body() }
    do throws(Failure) { return try body() } catch {
      let login = LoginOnDemand(session: session, request: request)
      guard error.ending == .signInNeeded, try login.isPossible else { throw error }
      let files = try login.files(instead: error)
      // The user may be signing in with `enroll login`. This command only uses the result: if that sign-in fails, this
      // command opens no tab.
      if !files.isBusy, SignInLocks.isTaken(session) {
        do throws(Failure) {
          try login.awaitUser()
          return try body()
        } catch {
          if error.ending == .signInNeeded { try login.requireNoQuestion() }
          throw error
        }
      }
      // If another process signs in now, the sign-in that waits may belong to that process, which then confirms it.
      if !files.isBusy { try login.requireNoQuestion() }
      try login.perform(files, instead: error)
    }
    return try body()
  }

  /// Waits until the user's own sign-in has ended.
  private func awaitUser() throws(Failure) {
    Terminal.errors.say(Self.waitingWords)
    try wait { !SignInLocks.isTaken(session) }
  }

  /// The files of the sign-in, if they can be written.
  private func files(instead failure: Failure) throws(Failure) -> SignInFiles {
    let words = "no sign-in can be started from here: "
    let files: SignInFiles
    do throws(Failure) { files = try SignInFiles(session.place) } catch {
      throw failure.adding(words + error.message)
    }
    if !files.isBusy, let obstacle = files.obstacle { throw failure.adding(words + obstacle) }
    return files
  }

  /// Whether a profile says where to sign in, in a file that another process can read, too. A resource needs its own
  /// profile, because only the user decides which server of a resource to trust.
  private var isPossible: Bool {
    get throws(Failure) {
      let path = session.place.configurationPath
      guard try session.place.hasConfiguration(), !LastingFile.isOfThisProcess(path) else { return false }
      guard let resource = request.resource else { return true }
      return ResourceProfile.serves(try session.configuration(), resource)
    }
  }

  /// Checks that no sign-in waits for an answer.
  /// - Throws: `.signInNeeded` if a sign-in waits for the user's confirmation: only the user answers, and no other
  ///   sign-in begins meanwhile.
  private func requireNoQuestion() throws(Failure) {
    // A descriptor with a PIN can be read only once, so it is not read here. The process that signs in does not
    // answer the question, either.
    guard session.pinFD == nil, try session.place.hasStore() else { return }
    let client = try session.open()
    defer { session.close(client) }
    guard try session.readWithWaiting(client, try session.configuration()).waiting != nil else { return }
    throw Failure(
      EnrollError(
        .illegalState, "a sign-in waits for the user's confirmation", field: EnrollError.confirmationField))
  }

  private func perform(_ files: SignInFiles, instead failure: Failure) throws(Failure) {
    let before = files.record
    if let rested = before?.failure, !files.isBusy, (0..<Self.restSeconds).contains(session.now - rested.at) {
      throw Failure(
        .signInNeeded, "\(failure.message); the last sign-in failed: \(Shown.message(rested.message))")
    }
    if !files.isBusy, let absence = Browser().absence {
      guard Terminal.hasPerson else { throw failure.adding("no browser can be opened: \(absence)") }
      return try signInHere(files)
    }
    var started: StartedSignIn?
    defer { started?.close() }
    if !files.isBusy {
      started = SignInHelper.start(
        files,
        login: try words + ["--yes", "--json"] + (request.resource == nil ? [] : ["--ask-in-browser"]),
        challenge: nil, after: before, passphrase: session.keys?.passphrase)
      guard started != nil else { throw failure.adding("no process could be started for a sign-in") }
    }
    if started == nil, files.present?.hasTab ?? false {
      Terminal.errors.say(
        "enroll: nobody is signed in; sign in with the browser that another command opened.")
      files.openAgain(at: session.now)
    } else {
      // Without a browser, another command may be signing in at its terminal.
      Terminal.errors.say(
        Browser().absence == nil
          ? "enroll: nobody is signed in; sign in with the browser that opens." : Self.waitingWords)
    }
    // A process that was just started may not have the lock yet.
    try wait { !files.isBusy && started?.hasEnded ?? true }
    let record = files.record
    if record != before, let failed = record?.failure {
      throw Failure(.signInNeeded, "the sign-in failed: \(Shown.message(failed.message))")
    }
  }

  private static let waitingWords =
    "enroll: another command is signing in to this account; waiting for it to end."

  private func wait(until isOver: () -> Bool) throws(Failure) {
    let end = session.instant.advanced(bySeconds: Self.seconds)
    while session.instant < end {
      try session.pause(milliseconds: 100)
      if isOver() { return }
    }
    throw Failure(.signInNeeded, "nobody signed in within \(Self.seconds) seconds")
  }

  /// The arguments of `enroll login` for the same account, from any directory.
  private var words: [String] {
    get throws(Failure) {
      var words = try request.place.lastingWords()
      guard let resource = request.resource else { return words }
      words += ArgumentWords.option("--resource", resource)
      if try session.configuration().allowsLoopbackHTTP { words.append("--allow-loopback-http") }
      return words
    }
  }

  /// Runs `enroll login` at this terminal. Only one process does so at a time.
  private func signInHere(_ files: SignInFiles) throws(Failure) {
    guard let lock = files.lock() else { throw Failure(.busy, "another command signs in at its terminal") }
    defer { lock.end() }
    guard let program = enroll_posix_program() else {
      throw Failure(.failed, "this program's path is unknown")
    }
    var login = try [String(cString: program), "login"] + words
    var descriptor: Int32?
    defer { if let descriptor { close(descriptor) } }
    if let passphrase = session.keys?.passphrase {
      let opened = try OtherProgram.descriptor(containing: passphrase.reveal())
      descriptor = opened
      login += ["--passphrase-fd", "\(opened)"]
    }
    switch ToolRun.runAtTerminal(login, session) {
    case CommandStatus.done.rawValue: return
    case CommandStatus.interrupted.rawValue: throw Failure(.interrupted, "stopped; nobody has signed in")
    default: throw Failure(.signInNeeded, "nobody has signed in")
    }
  }
}
