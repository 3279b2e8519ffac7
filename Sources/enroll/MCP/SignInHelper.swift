// The sign-in of a bridge runs in a separate process, because hosts start and kill bridges while the user is in the
// browser. The process is `enroll login` without a terminal. It holds a lock, so that all bridges of a user open only
// one tab. It writes its output to a file, which the bridges read. They find the new session in the store.

import CPosix
import EnrollArguments
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollRules

/// A sign-in that this process has started.
struct StartedSignIn {
  /// The reading end of a pipe to which the process writes nothing. The pipe closes when the process ends.
  private let descriptor: Int32

  fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

  var hasEnded: Bool {
    if case .end = DetachedProcess.readChunk(from: descriptor) { true } else { false }
  }

  /// Stops observing the process. The process continues.
  func close() { DetachedProcess.close(descriptor) }
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
  ///   - last: the record of the last sign-in. If another sign-in has ended after that sign-in, no sign-in starts.
  ///   - passphrase: the passphrase that opens the store.
  /// - Returns: the process; nil if no process could be started.
  static func start(
    _ files: SignInFiles, login: [String], challenge: String?, after last: SignInRecord?, passphrase: Secret?
  ) -> StartedSignIn? {
    let order = JSON.object([
      ("place", .string(files.path)), ("words", .array(login.map { .string($0) })),
      ("challenge", challenge.map { .string($0) }), ("last", last.map { .string($0.name) }),
      ("passphrase", passphrase.map { .string($0.reveal()) }),
    ])
    return DetachedProcess.start([name] + words, input: order.serialized(), mayEndWithProcessOne: true)
      .map { StartedSignIn($0) }
  }

  /// Runs the internal command.
  /// - Returns: the exit status; nil for another command.
  static func run(_ given: [String]) -> Int32? {
    if given == words + [DetachedProcess.detachArgument] {
      DetachedProcess.detach([name] + words)
      return CommandStatus.failed.rawValue
    }
    guard given == words else { return nil }
    // The descriptor for the answers stays open until this process ends. The process that started this process waits
    // for the end of that descriptor.
    guard let (order, _) = DetachedProcess.begin(runningSeconds: runningSeconds),
      let json = try? JSON.parse(order), let path = json["place"]?.string
    else { return CommandStatus.usage.rawValue }
    let files = SignInFiles(path: path)
    // Several bridges may start such a process at the same time. Only one of the processes continues.
    guard let lock = files.lock(), files.record?.name == json["last"]?.string else {
      return CommandStatus.busy.rawValue
    }
    defer { lock.end() }
    let record = files.openRecord()
    guard record >= 0, dup2(record, STDOUT_FILENO) >= 0 else { return CommandStatus.failed.rawValue }
    let beginning = JSON.object([
      ("at", .integer(now)), ("process", .integer(Int64(getpid()))), ("challenge", json["challenge"]),
    ])
    Output.json(beginning)
    unlink(files.openAgainFile)
    var login = json["words"]?.array?.compactMap { $0.string } ?? []
    login += ["--open-again", files.openAgainFile]
    if let passphrase = json["passphrase"]?.string,
      let descriptor = try? OtherProgram.descriptor(containing: passphrase)
    {
      login += ["--passphrase-fd", "\(descriptor)"]
    }
    let status = Enroll.program.run(
      ["login"] + login, width: nil, output: { _ in },
      errors: { text in fail(String(text.split(separator: "\n").first ?? ""), CommandStatus.usage.rawValue) })
    // The record is written again, without the URL and its `state`, which are no longer needed.
    let last = files.record
    let failure = last?.failure
    _ = ftruncate(record, 0)
    Output.json(beginning)
    if let last, last.hasTab { Output.json(.object([("opened", .integer(last.openedAt))])) }
    if let failure { fail(failure.message, Int32(clamping: failure.status)) }
    // Records when the sign-in failed, because a sign-in that was declined is not repeated for a while.
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
