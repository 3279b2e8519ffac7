// The sign-in of a bridge runs in a process of its own: hosts start and kill bridges while the user is in the browser.
// The process is `enroll login` without a terminal. It holds a lock, so that all bridges of a user open one tab, and
// writes what it prints into a file, which the bridges read. They learn of the session from the store.

import CPosix
import EnrollArguments
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollRules

/// The lock and the record of the sign-ins for one account at one resource.
struct SignInPlace {
  private let path: String

  /// nil if there is no folder for them.
  init?(_ context: Context) {
    guard let folder = try? UserDirectories.state(), (try? Folders.make(folder)) != nil else { return nil }
    path = "\(folder)/mcp-\(context.signInLabel)"
  }

  fileprivate init(path: String) { self.path = path }

  fileprivate var text: String { path }

  /// Takes the lock, which the system releases when the process ends.
  func lock() -> SignInLock? {
    if case .taken(let lock) = SignInLock.take("\(path).lock") { lock } else { nil }
  }

  /// The process that signs in now; nil if none does.
  var holder: Int32? { SignInLock.holder("\(path).lock") }

  /// Whether a sign-in is in progress.
  var isBusy: Bool { holder != nil }

  /// The record of the sign-in that is in progress; nil if it has not begun its record yet.
  var present: SignInRecord? {
    guard let holder, let record else { return nil }
    return holder < 0 || record.process == Int64(holder) ? record : nil
  }

  /// A new file for what the sign-in prints.
  fileprivate func openRecord() -> Int32 {
    let descriptor = enroll_posix_open(
      "\(path).json", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { OwnerPermissions.restore(file: descriptor) }
    return descriptor
  }

  /// The last sign-in; nil if there was none.
  var record: SignInRecord? { Self.read("\(path).json").flatMap { SignInRecord($0[...]) } }

  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256 << 10)
    let count = bytes.withUnsafeMutableBytes { CPosix.read(descriptor, $0.baseAddress, $0.count) }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  // MARK: A tab that was closed

  /// Asks the process that signs in to open its tab again.
  func openAgain() {
    let descriptor = enroll_posix_open(wish, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  /// The file by which a bridge asks for the tab.
  fileprivate var wish: String { "\(path).again" }

  // MARK: The token that the server refuses

  /// A server that wants other scopes after each sign-in gets no more sign-ins than that, for the same time.
  private static let mostScopeSets = 3
  /// How long a refusal is remembered, in seconds.
  private static let refusedSeconds: Int64 = 600

  /// Remembers, for all bridges, that the server has refused this token although it was new.
  /// - Parameter scopes: what the server wanted after a sign-in for scopes (403); empty after a 401.
  func rememberRefusal(of token: Secret, for scopes: Set<String>, at now: Int64) {
    guard let label = Self.label(token) else { return }
    var sets = refusals(for: scopes, at: now)?.sets ?? []
    let text = Self.text(scopes)
    if !sets.contains(text) { sets.append(text) }
    let json = JSON.object([
      ("at", .integer(now)), ("token", .string(label)), ("scopes", .array(sets.map { .string($0) })),
    ])
    try? Folders.write(json.text + "\n", to: refusalPath(for: scopes))
  }

  /// Whether the server has refused this token for these scopes, or further scopes too often.
  func isRefused(_ token: Secret, for scopes: Set<String>, at now: Int64) -> Bool {
    guard let known = refusals(for: scopes, at: now) else { return false }
    let isSame = Self.label(token).map { ASCII.equals($0, known.token) } ?? false
    return isSame && known.sets.contains(Self.text(scopes)) || known.sets.count >= Self.mostScopeSets
  }

  private func refusals(for scopes: Set<String>, at now: Int64) -> (token: String, sets: [String])? {
    guard let bytes = Self.read(refusalPath(for: scopes)), let json = try? JSON.parse(bytes),
      let token = json["token"]?.string, let at = json["at"]?.integer,
      (0..<Self.refusedSeconds).contains(now.subtractingReportingOverflow(at).partialValue)
    else { return nil }
    return (token, json["scopes"]?.array?.compactMap { $0.string } ?? [])
  }

  private func refusalPath(for scopes: Set<String>) -> String {
    path + (scopes.isEmpty ? ".refused" : ".scopes")
  }

  private static func text(_ scopes: Set<String>) -> String { scopes.sorted().joined(separator: " ") }

  /// Tells a token from others, and says nothing about it.
  private static func label(_ token: Secret) -> String? {
    (try? Digest.sha256.hash(Array(token.reveal().utf8))).map { Base64URL.encode($0) }
  }
}

/// What a sign-in has printed so far: what was asked, the transaction, and a failure.
struct SignInRecord: Equatable {
  /// When it began, in seconds since 1970.
  var beganAt: Int64 = 0
  /// The id of the process: it distinguishes sign-ins that began in the same second.
  var process: Int64 = 0
  var challenge: String?
  /// The host at which the user signs in.
  var issuerHost: String?
  /// The code to type on another device, and where.
  var deviceCode: (code: String, url: String)?
  /// When the tab was opened last, in seconds since 1970.
  var openedAt: Int64 = 0
  var failure: (message: String, status: Int64, at: Int64)?

  init?(_ bytes: ArraySlice<UInt8>) {
    let lines = bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSON.parse(Array($0)) }
    guard let first = lines.first, let at = first["at"]?.integer else { return nil }
    beganAt = at
    process = first["process"]?.integer ?? 0
    challenge = first["challenge"]?.string
    openedAt = at
    for line in lines.dropFirst() {
      if let opened = line["opened"]?.integer { openedAt = opened }
      if let action = line["action"] {
        if let url = action["url"]?.string { issuerHost = (try? StrictURL(url))?.hostText }
        if let code = action["userCode"]?.string, let url = action["verificationUri"]?.string {
          deviceCode = (code, url)
          issuerHost = (try? StrictURL(url))?.hostText
        }
      }
      if let status = line["exitStatus"]?.integer {
        let message = line["error"]?["message"]?.string ?? "the sign-in ended"
        failure = (message, status, at)
      }
      if let ended = line["ended"]?.integer { failure?.at = ended }
    }
  }

  /// Tells this sign-in from others.
  var name: String { "\(beganAt) \(process)" }

  static func == (left: SignInRecord, right: SignInRecord) -> Bool {
    left.beganAt == right.beganAt && left.process == right.process
      && (left.failure == nil) == (right.failure == nil)
  }
}

/// The internal command `enroll detached-sign-in`, with which a bridge starts a sign-in.
enum SignInHelper {
  private static let words = ["detached-sign-in"]
  private static let name = "enroll"
  /// How long the user has for the sign-in.
  private static let runningSeconds: Int32 = 600

  /// Starts a sign-in, unless one is in progress.
  /// - Parameters:
  ///   - login: the arguments of `enroll login`.
  ///   - last: the record of the last sign-in. If another one has ended since, none is begun.
  ///   - passphrase: opens the store.
  /// - Returns: a descriptor that ends when the process ends, and that the caller closes; nil if no process could be
  ///   started.
  static func start(
    _ place: SignInPlace, login: [String], challenge: String?, after last: SignInRecord?, passphrase: Secret?
  ) -> Int32? {
    let order = JSON.object([
      ("place", .string(place.text)), ("words", .array(login.map { .string($0) })),
      ("challenge", challenge.map { .string($0) }), ("last", last.map { .string($0.name) }),
      ("passphrase", passphrase.map { .string($0.reveal()) }),
    ])
    return DetachedProcess.start([name] + words, input: order.serialized())
  }

  /// - Returns: the exit status; nil for another command.
  static func run(_ given: [String]) -> Int32? {
    if given == words + [DetachedProcess.detachArgument] {
      DetachedProcess.detach([name] + words)
      return CommandStatus.failed.rawValue
    }
    guard given == words else { return nil }
    // The descriptor of the answers stays open until this process ends. Its starter waits for that.
    guard let (order, _) = DetachedProcess.begin(runningSeconds: runningSeconds),
      let json = try? JSON.parse(order), let path = json["place"]?.string
    else { return CommandStatus.usage.rawValue }
    let place = SignInPlace(path: path)
    // Bridges that start one at the same time start one each.
    guard let lock = place.lock(), place.record?.name == json["last"]?.string else {
      return CommandStatus.busy.rawValue
    }
    defer { lock.end() }
    let record = place.openRecord()
    guard record >= 0, dup2(record, STDOUT_FILENO) >= 0 else { return CommandStatus.failed.rawValue }
    let beginning = JSON.object([
      ("at", .integer(now)), ("process", .integer(Int64(getpid()))), ("challenge", json["challenge"]),
    ])
    Output.json(beginning)
    unlink(place.wish)
    var login = json["words"]?.array?.compactMap { $0.string } ?? []
    login += ["--open-again", place.wish]
    if let passphrase = json["passphrase"]?.string,
      let descriptor = try? OtherProgram.descriptor(containing: passphrase)
    {
      login += ["--passphrase-fd", "\(descriptor)"]
    }
    let status = Enroll.program.run(
      ["login"] + login, width: nil, output: { _ in },
      errors: { text in fail(String(text.split(separator: "\n").first ?? ""), CommandStatus.usage.rawValue) })
    // The URL with its `state` is of no use any more.
    let failure = place.record?.failure
    _ = ftruncate(record, 0)
    Output.json(beginning)
    if let failure { fail(failure.message, Int32(clamping: failure.status)) }
    // The time of a failure: a sign-in that was declined is not repeated for a while.
    if status != 0 { Output.json(.object([("ended", .integer(now))])) }
    return status
  }

  private static func fail(_ message: String, _ status: Int32) {
    Output.json(
      .object([
        ("error", .object([("message", .string(message))])), ("exitStatus", .integer(Int64(status))),
      ]))
  }

  private static var now: Int64 { SystemClock().wallTime().seconds }
}
