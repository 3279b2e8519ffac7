// The sign-in for a bridge's requests. It is started once for all bridges of the user, and each bridge waits for its
// end. Only a request of the host starts a sign-in: a timer never opens a browser.

import EnrollCrypto
import EnrollHost
import EnrollMCP
import EnrollPosix
import EnrollRules
import EnrollSteps

/// Why a request needs a sign-in.
struct SignInNeed {
  /// The server's `WWW-Authenticate`.
  var challenge: String?
  /// Whether a new sign-in is necessary even if there is a session.
  var again = false
  var needsMoreScopes = false
  /// Why the session ended; nil if no session has ended.
  var ended: String?

  /// The scopes that the challenge names.
  var scopes: Set<String> { Self.scopes(of: challenge) }

  static func scopes(of challenge: String?) -> Set<String> {
    Set(challenge.flatMap { try? ResourceChallenge(header: $0) }?.scopes ?? [])
  }
}

/// The sign-in that requests of this bridge wait for.
struct BridgeSignIn {
  /// The progress of the wait.
  enum Progress {
    case waiting
    /// The store may have a new session.
    case settled
    case failed(ErrorAnswer)
  }

  private static let declinedSeconds: Int64 = 60
  /// For how many seconds no other sign-in starts for scopes that the user has declined.
  private static let declinedScopesSeconds: Int64 = 600
  /// If a sign-in fails without opening a tab, and the user did not decline it, further requests get the same
  /// error for this many seconds.
  private static let failedSeconds: Int64 = 5
  private static let longestShownChallenge = 1024

  let options: BridgeOptions
  let session: CommandSession
  private let files: SignInFiles?
  /// The record of the last sign-in, as it was when the wait began.
  private var before: SignInRecord?
  private(set) var isAwaited = false
  /// The process that this bridge has started for the sign-in; nil if another process signs the user in.
  private var started: StartedSignIn?
  private var arguments: [String] = []
  private var need = SignInNeed()

  init(_ options: BridgeOptions, _ session: CommandSession) {
    self.options = options
    self.session = session
    files = try? SignInFiles(session.place)
  }

  /// Begins to wait for a sign-in, and starts it if no sign-in is in progress.
  /// - Returns: an error if no sign-in can be awaited.
  mutating func begin(_ need: SignInNeed) -> ErrorAnswer? {
    guard options.policy != .never, let files else { return required(opened: false, need) }
    let record = files.record
    if let answer = remembered(record, need, isBusy: files.isBusy) { return answer }
    if isAwaited {
      openAgain(files)
      return nil
    }
    guard options.opensBrowser || options.usesDevice else {
      // The user signs in at a terminal.
      isAwaited = true
      return nil
    }
    if !options.usesDevice, !files.isBusy, Browser().commands.isEmpty {
      return required(opened: false, need)
    }
    isAwaited = true
    before = record
    self.need = need
    arguments = login(need)
    if files.isBusy {
      openAgain(files)
    } else if !start(files) {
      end()
      return noProcess(need)
    }
    return nil
  }

  /// Opens the tab of the sign-in again, if the user may have closed it.
  private func openAgain(_ files: SignInFiles) {
    if options.opensBrowser, !options.usesDevice { files.openAgain(at: session.now) }
  }

  /// - Returns: false if no process can be started.
  private mutating func start(_ files: SignInFiles) -> Bool {
    started?.close()
    DetachedProcess.reapAsProcessOne()
    started = SignInHelper.start(
      files, login: arguments, challenge: need.challenge, after: before, passphrase: session.keys?.passphrase)
    guard started != nil else { return false }
    Terminal.errors.say("enroll mcp: a sign-in for \(options.serverName) begins.")
    return true
  }

  /// The error of a sign-in that failed a short time ago; nil if no sign-in failed recently.
  private func remembered(
    _ record: SignInRecord?, _ need: SignInNeed, isBusy: Bool
  ) -> ErrorAnswer? {
    guard let record, let failure = record.failure, !isBusy else { return nil }
    let age = session.now - failure.at
    let isDeclined = failure.status == Int64(CommandStatus.notFinished.rawValue)
    let isSame = need.needsMoreScopes && record.challenge == need.challenge
    // The longer limit prevents a new tab for each request. The program that opens the browser may fail after it has
    // opened a tab.
    let hadTab = record.hasTab || failure.status == Int64(CommandStatus.failed.rawValue)
    let limit =
      isDeclined
      ? isSame ? Self.declinedScopesSeconds : Self.declinedSeconds
      : hadTab ? Self.declinedSeconds : Self.failedSeconds
    guard age >= 0, age < limit else { return nil }
    guard isDeclined else { return failed(record, need) }
    let ago = "\(max(1, age)) seconds ago"
    return need.needsMoreScopes
      ? ErrorAnswer(
        .moreScopes, "\(options.serverName) needs further scopes for this; you declined them \(ago).",
        command: command(need))
      : ErrorAnswer(
        .signInRequired, "You declined the sign-in for \(options.serverName) \(ago).", command: command(need))
  }

  /// Checks whether the sign-in has ended.
  /// - Parameter hasNewSession: whether the store has a session that the requests have not used.
  mutating func progress(_ need: SignInNeed, hasNewSession: () -> Bool) -> Progress {
    guard isAwaited, let files else { return .settled }
    if !options.opensBrowser, !options.usesDevice { return hasNewSession() ? .settled : .waiting }
    // A process that was just started has not taken the lock yet. So this code first reads whether the process has
    // ended. If it has ended, everything that it wrote is complete.
    let hasEnded = started?.hasEnded ?? true
    if files.isBusy {
      guard let device = files.present?.deviceCode else { return .waiting }
      return .failed(
        ErrorAnswer(
          .signInRequired,
          "To use \(options.serverName), open \(device.url) and type \(device.code). Then try again."))
    }
    let record = files.record
    // The failure is checked before the session: the earlier session may have been renewed in the meantime, and would
    // look new.
    if let record, record != before, record.failure != nil {
      return .failed(failed(record, need))
    }
    if hasNewSession() { return .settled }
    guard hasEnded else { return .waiting }
    if started != nil {
      let why = files.obstacle.map { "could not begin: \(Shown.text($0))" } ?? "ended without a result"
      return .failed(ErrorAnswer(.signInRequired, "The sign-in \(why).", command: command(need)))
    }
    before = record
    return start(files) ? .waiting : .failed(noProcess(need))
  }

  /// The scopes that the sign-in requested; nil for a sign-in at a terminal, whose scopes are unknown.
  var askedScopes: Set<String>? {
    guard hasProcess else { return nil }
    // Another bridge may have started the sign-in.
    let record = files?.record
    return SignInNeed.scopes(of: record == nil || record == before ? need.challenge : record?.challenge)
  }

  mutating func end() {
    started?.close()
    (isAwaited, before, started) = (false, nil, nil)
  }

  // MARK: Tokens that the server refuses

  /// Remembers that the server has refused a new token, so that no bridge opens a tab because of this refusal.
  /// - Parameter scopes: the scopes that the server asked for; empty if it named no scopes.
  func rememberRefusal(of token: Secret, for scopes: Set<String> = []) {
    files?.rememberRefusal(of: token, for: scopes, at: session.now)
  }

  /// Whether the server has refused this token although it was new.
  func isRefused(_ token: Secret, for scopes: Set<String> = []) -> Bool {
    files?.isRefused(token, for: scopes, at: session.now) ?? false
  }

  private func failed(_ record: SignInRecord, _ need: SignInNeed) -> ErrorAnswer {
    let words = Shown.message(record.failure?.message ?? "")
    let isUnreachable = record.failure?.status == Int64(CommandStatus.unreachable.rawValue)
    return ErrorAnswer(
      isUnreachable ? .unreachable : need.needsMoreScopes ? .moreScopes : .signInRequired,
      "The sign-in for \(options.serverName) failed: \(words)", command: command(need))
  }

  /// The error for a request whose wait has timed out, or for which no sign-in is started.
  /// - Parameter obstacle: why the bridge starts no sign-in, as a sentence and a space.
  func required(opened: Bool, _ need: SignInNeed, obstacle: String = "") -> ErrorAnswer {
    let record = files?.record
    let issuer = record?.issuerHost.map { "at \($0) " } ?? ""
    let reason: ErrorAnswer.Reason =
      need.needsMoreScopes ? .moreScopes : need.ended == nil ? .signInRequired : .signedOut
    let cause = need.ended.map { "The session has ended (\(Shown.text($0))). " } ?? ""
    let purpose =
      need.needsMoreScopes ? "allow further scopes for \(options.serverName)" : "use \(options.serverName)"
    guard !opened else {
      let isOpen = files?.present?.hasTab ?? false
      let window = isOpen ? "a browser window is open" : "a browser window opens when the server has answered"
      return ErrorAnswer(reason, "\(cause)Sign in \(issuer)to \(purpose): \(window). Then try again.")
    }
    return ErrorAnswer(
      reason, "\(cause)\(obstacle)Sign in to \(purpose): run \(command(need)), then try again.",
      command: command(need))
  }

  /// The error for a request whose sign-in cannot begin, because the system starts no process for it.
  private func noProcess(_ need: SignInNeed) -> ErrorAnswer {
    required(opened: false, need, obstacle: "No process can be started for the sign-in. ")
  }

  /// The error for a request that the server refuses for missing scopes, although the user has just signed in with
  /// them.
  func scopesRefused(_ need: SignInNeed) -> ErrorAnswer {
    ErrorAnswer(
      .moreScopes,
      "\(options.serverName) still wants further scopes after a sign-in for them. No other window opens for a while.",
      command: command(need))
  }

  /// The error for a request that needs further scopes which the server does not name.
  func scopesUnnamed(_ need: SignInNeed) -> ErrorAnswer {
    var need = need
    (need.again, need.challenge) = (true, nil)
    let command = command(need) + " --scope SCOPES"
    return ErrorAnswer(
      .moreScopes,
      "\(options.serverName) needs further scopes for this, and does not name them. If you know them, run \(command).",
      command: command)
  }

  /// The error for a request for which another user has signed in.
  func otherUser(_ need: SignInNeed) -> ErrorAnswer {
    ErrorAnswer(
      need.needsMoreScopes ? .moreScopes : .signInRequired,
      "Another user has signed in to \(options.serverName). This request was not sent; further requests are sent for that user."
    )
  }

  /// Whether a process signs the user in, in the browser or on another device.
  var hasProcess: Bool { isAwaited && (options.opensBrowser || options.usesDevice) }

  private func login(_ need: SignInNeed) -> [String] {
    var words = ["--resource", options.resource, "--yes", "--json"] + options.signInWords
    if options.policy == .ask, !options.usesDevice { words.append("--ask-in-browser") }
    words.append("--drop-waiting")
    if need.again { words.append("--again") }
    if let challenge = need.challenge { words.append("--challenge=\(challenge)") }
    if options.usesDevice { words.append("--device") }
    return words
  }

  /// The command with which the user signs in at a terminal.
  private func command(_ need: SignInNeed) -> String {
    var words = ["enroll", "login", "--resource", options.resource] + options.signInWords
    if need.again { words.append("--again") }
    // The challenge comes from the server, so it is shown only if it is short and printable ASCII.
    if need.needsMoreScopes, let challenge = need.challenge,
      challenge.utf8.count <= Self.longestShownChallenge,
      challenge.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    {
      words.append("--challenge=\(challenge)")
    }
    if options.usesDevice { words.append("--device") }
    return words.map { ShellWord.quoted($0) }.joined(separator: " ")
  }
}
