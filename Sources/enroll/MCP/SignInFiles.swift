// The files of the sign-ins that commands start in processes of their own: a lock, a record, a request for the tab, and
// refused tokens. Every process of the user finds the same files.

import CPosix
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollRules

/// The lock and the record of the sign-ins for one account at one resource.
struct SignInFiles {
  /// The beginning of the paths of all these files.
  let path: String

  /// The files of the context's account.
  /// - Throws: `.failed` if there is no folder for the files, and none can be made.
  init(_ context: Context) throws(Failure) {
    let folder = try Failure.wrapping { () throws(EnrollError) in try UserDirectories.state() }
    try Folders.make(folder)
    path = "\(folder)/mcp-\(context.signInLabel)"
  }

  init(path: String) { self.path = path }

  /// Takes the lock, which the system releases when the process ends.
  func lock() -> SignInLock? {
    if case .taken(let lock) = SignInLock.take("\(path).lock") { lock } else { nil }
  }

  /// The id of the process in which a sign-in is in progress; nil if no sign-in is in progress.
  var holder: Int32? { SignInLock.holder("\(path).lock") }

  /// Whether a sign-in is in progress.
  var isBusy: Bool { holder != nil }

  /// The record of the sign-in that is in progress; nil if no sign-in is in progress, or if the sign-in has not begun
  /// its record yet.
  var present: SignInRecord? {
    guard let holder, let record else { return nil }
    return holder < 0 || record.process == Int64(holder) ? record : nil
  }

  /// Opens an empty file for the output of the sign-in.
  /// - Returns: the descriptor; negative if the file cannot be written.
  func openRecord() -> Int32 { Self.open("\(path).json", with: O_TRUNC | O_APPEND) }

  private static func open(_ path: String, with flags: Int32 = 0) -> Int32 {
    let descriptor = enroll_posix_open(
      path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0o600)
    if descriptor >= 0 { OwnerPermissions.restore(file: descriptor) }
    return descriptor
  }

  /// Why no sign-in can use these files; nil if a sign-in can use them. Takes no lock, because that would disturb a
  /// sign-in that begins. The process with the lock must not call this, because it would lose the lock.
  var obstacle: String? {
    for file in ["\(path).lock", "\(path).json"] {
      let descriptor = Self.open(file)
      guard descriptor >= 0 else {
        return "\(file) cannot be written: \(SystemError.message(enroll_posix_errno()))"
      }
      close(descriptor)
    }
    return nil
  }

  /// The record of the last sign-in; nil if there was none.
  var record: SignInRecord? { Self.read("\(path).json").flatMap { SignInRecord($0[...]) } }

  private static func read(_ path: String) -> [UInt8]? {
    // Opening must not wait: if the file is a pipe, perhaps nobody ever writes to it.
    let descriptor = enroll_posix_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256 << 10)
    let count = bytes.withUnsafeMutableBytes { CPosix.read(descriptor, $0.baseAddress, $0.count) }
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  // MARK: A tab that was closed

  /// For how many seconds a tab that was opened is not opened again.
  private static let tabSeconds: Int64 = 120

  /// Asks the process that signs in to open the browser's tab again, if the tab was opened long ago: the user may have
  /// closed it.
  func openAgain(at now: Int64) {
    guard let present, now - present.openedAt >= Self.tabSeconds else { return }
    let descriptor = enroll_posix_open(openAgainFile, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  /// The file whose existence asks for the tab (`login --open-again`).
  var openAgainFile: String { "\(path).again" }

  // MARK: The token that the server refuses

  /// The largest number of sets of scopes that are remembered as refused after sign-ins. When a server has asked for
  /// this many sets, no further sign-in starts for scopes until ``refusedSeconds`` have passed.
  private static let mostScopeSets = 3
  /// How long a refusal is remembered, in seconds.
  private static let refusedSeconds: Int64 = 600

  /// Remembers, for all bridges, that the server has refused this token although it was new.
  /// - Parameter scopes: after a 403, the scopes that the server still asked for after a sign-in for these scopes;
  ///   empty after a 401.
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

  /// Whether the server has refused this token for these scopes, or has asked for further scopes too often.
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

  /// A digest that distinguishes the token from other tokens, and reveals nothing about it.
  private static func label(_ token: Secret) -> String? {
    (try? Digest.sha256.hash(Array(token.reveal().utf8))).map { Base64URL.encode($0) }
  }
}
