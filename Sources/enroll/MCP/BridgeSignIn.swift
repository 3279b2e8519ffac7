// The sign-in for a bridge's requests: begun once for all bridges of the user, then awaited. Only a request of the host
// begins one; a timer never opens a browser.

import EnrollCrypto
import EnrollHost
import EnrollMCP
import EnrollPosix
import EnrollRules

/// The sign-in that requests of this bridge wait for.
struct BridgeSignIn {
  /// How the wait goes on.
  enum Progress {
    case waiting
    /// The store may have a new session.
    case settled
    case failed(ErrorAnswer)
  }

  private static let declinedSeconds: Int64 = 60
  /// A further sign-in for scopes that the user declined is not begun for this time.
  private static let declinedScopesSeconds: Int64 = 600
  /// After another failure, the requests that come at once get the same answer.
  private static let failedSeconds: Int64 = 5
  /// A process that was just started has not taken the lock yet.
  private static let startingNanoseconds: Int64 = 3_000_000_000

  let options: BridgeOptions
  let session: CommandSession
  private let place: SignInPlace?
  /// The record when the wait began.
  private var before: SignInRecord?
  private var isAwaited = false
  private var startedAt: Int64?
  private var arguments: [String] = []
  private var challenge: String?

  init(_ options: BridgeOptions, _ session: CommandSession) {
    self.options = options
    self.session = session
    place = SignInPlace(session.place)
  }

  /// Begins to wait for a sign-in, and starts it if nobody has.
  /// - Parameters:
  ///   - challenge: `WWW-Authenticate` of the server.
  ///   - again: whether the present session does not do.
  /// - Returns: an error if no sign-in can be awaited.
  mutating func begin(challenge: String?, again: Bool, needsMoreScopes: Bool) -> ErrorAnswer? {
    guard options.policy == .auto, let place else { return required(opened: false) }
    let record = place.record
    if let answer = remembered(record, challenge, needsMoreScopes, isBusy: place.isBusy) { return answer }
    guard !isAwaited else { return nil }
    guard options.opensBrowser || options.usesDevice else {
      // The user signs in at a terminal.
      isAwaited = true
      return nil
    }
    if !options.usesDevice, !place.isBusy, Browser().commands.isEmpty { return required(opened: false) }
    isAwaited = true
    before = record
    self.challenge = challenge
    arguments = login(challenge: challenge, again: again)
    if !place.isBusy { start(place) }
    return nil
  }

  private mutating func start(_ place: SignInPlace) {
    startedAt = SystemClock.now().nanoseconds
    if SignInHelper.start(place, login: arguments, challenge: challenge) {
      Terminal.errors.say("enroll mcp: a sign-in for \(options.serverName) begins.")
    }
  }

  /// The answer of a sign-in that ended shortly before.
  private func remembered(
    _ record: SignInRecord?, _ challenge: String?, _ needsMoreScopes: Bool, isBusy: Bool
  ) -> ErrorAnswer? {
    guard let record, let failure = record.failure, !isBusy else { return nil }
    let age = session.now - failure.at
    let isDeclined = failure.status == Int64(CommandStatus.notFinished.rawValue)
    let isSame = needsMoreScopes && record.challenge == challenge
    let limit =
      !isDeclined ? Self.failedSeconds : isSame ? Self.declinedScopesSeconds : Self.declinedSeconds
    guard age >= 0, age < limit else { return nil }
    guard isDeclined else { return failed(record, needsMoreScopes: needsMoreScopes) }
    let ago = "\(max(1, age)) seconds ago"
    return needsMoreScopes
      ? ErrorAnswer(
        .moreScopes, "\(options.serverName) needs further scopes for this; you declined them \(ago).",
        command: command)
      : ErrorAnswer(
        .signInRequired, "You declined the sign-in for \(options.serverName) \(ago).", command: command)
  }

  /// Looks whether the sign-in has ended.
  /// - Parameter hasSession: whether the store has a session that the requests have not used.
  mutating func progress(needsMoreScopes: Bool, hasNewSession: () -> Bool) -> Progress {
    guard isAwaited, let place else { return .settled }
    if !options.opensBrowser, !options.usesDevice { return hasNewSession() ? .settled : .waiting }
    let isBusy = place.isBusy
    let record = place.record
    let isNew = record != nil && record != before
    if isBusy {
      guard let device = record?.deviceCode, isNew || startedAt == nil else { return .waiting }
      return .failed(
        ErrorAnswer(
          .signInRequired,
          "To use \(options.serverName), open \(device.url) and type \(device.code). Then try again."))
    }
    if hasNewSession() { return .settled }
    if isNew, let record, record.failure != nil {
      return .failed(failed(record, needsMoreScopes: needsMoreScopes))
    }
    if let startedAt, SystemClock.now().nanoseconds - startedAt < Self.startingNanoseconds { return .waiting }
    guard startedAt == nil else {
      return .failed(ErrorAnswer(.signInRequired, "The sign-in did not end.", command: command))
    }
    start(place)
    return .waiting
  }

  mutating func end() { (isAwaited, before, startedAt) = (false, nil, nil) }

  private func failed(_ record: SignInRecord, needsMoreScopes: Bool) -> ErrorAnswer {
    let words = Shown.message(record.failure?.message ?? "")
    return ErrorAnswer(
      needsMoreScopes ? .moreScopes : .signInRequired,
      "The sign-in for \(options.serverName) failed: \(words)", command: command)
  }

  /// The error for a request whose time is over, or for which no sign-in is begun.
  func required(opened: Bool, ended: String? = nil, needsMoreScopes: Bool = false) -> ErrorAnswer {
    let record = place?.record
    let issuer = record?.issuerHost.map { "at \($0) " } ?? ""
    let reason: ErrorAnswer.Reason =
      needsMoreScopes ? .moreScopes : ended == nil ? .signInRequired : .signedOut
    let cause = ended.map { "The session has ended (\(Shown.text($0))). " } ?? ""
    let purpose =
      needsMoreScopes ? "allow further scopes for \(options.serverName)" : "use \(options.serverName)"
    guard !opened else {
      return ErrorAnswer(
        reason, "\(cause)Sign in \(issuer)to \(purpose): a browser window is open. Then try again.")
    }
    return ErrorAnswer(
      reason, "\(cause)Sign in to \(purpose): run \(command), then try again.", command: command)
  }

  /// Whether a process signs the user in, in the browser or on another device.
  var hasProcess: Bool { isAwaited && (options.opensBrowser || options.usesDevice) }

  private func login(challenge: String?, again: Bool) -> [String] {
    var words = ["--resource", options.resource, "--yes", "--json"] + options.signInWords
    if again { words.append("--again") }
    if let challenge { words.append("--challenge=\(challenge)") }
    if options.usesDevice { words.append("--device") }
    return words
  }

  /// The command with which the user signs in at a terminal.
  var command: String {
    let words =
      ["enroll", "login", "--resource", options.resource] + options.signInWords
      + (options.usesDevice ? ["--device"] : [])
    return words.map { ShellWord.quoted($0) }.joined(separator: " ")
  }
}
