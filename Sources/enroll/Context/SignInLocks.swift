// Allows one sign-in at a time for each account: a second sign-in waits for the first, and uses its result, because a
// second browser tab for one session is useless. Also allows one sign-in at a time for each redirect URI with a port.

import CPosix
import EnrollJSON
import EnrollPosix
import EnrollRules

/// The locks with which this process signs in.
struct SignInLocks {
  private let account: SignInLock
  private var redirect: SignInLock?
  /// The scopes of the other process's sign-in for which this process has waited; nil if this process did not wait, or
  /// if that sign-in failed.
  let servedScopes: [String]?

  /// Waits until the sign-ins of other processes for this account have ended.
  /// - Returns: nil if no lock file can be made. Other processes can then sign in at the same time.
  /// - Throws: `.interrupted` by Ctrl-C.
  static func acquire(_ session: CommandSession) throws(Failure) -> SignInLocks? {
    guard let lock = try take(session.place.signInLabel, session, saying: "to this account") else {
      return nil
    }
    let scopes = lock.wasAwaited ? scopes(in: lock.0.note) : nil
    // If this process did not wait, or if it waited for a sign-in that failed, the note in the lock file is from an
    // earlier sign-in, and is erased.
    if scopes == nil { lock.0.write([]) }
    return SignInLocks(account: lock.0, servedScopes: scopes)
  }

  /// Waits until no other process listens at the port of a redirect URI.
  /// - Throws: `.interrupted` by Ctrl-C.
  mutating func awaitRedirect(_ uri: String, _ session: CommandSession) throws(Failure) {
    guard redirect == nil, let url = try? StrictURL(uri), url.kind == .loopbackHTTP, let port = url.port
    else {
      return
    }
    redirect = try Self.take("port-\(port)", session, saying: "with the same redirect URI")?.0
  }

  /// Writes into the lock file, for the processes that wait, that a user has signed in.
  /// - Parameter scopes: the scopes that were requested.
  func succeeded(_ scopes: [String]) {
    account.write(JSON.object([("scopes", .array(scopes.map { .string($0) }))]).serialized())
  }

  func end() {
    redirect?.end()
    account.end()
  }

  /// Whether another process is signing in to this account.
  static func isTaken(_ session: CommandSession) -> Bool {
    guard let path = Self.path(session.place.signInLabel) else { return false }
    return SignInLock.holder(path) != nil
  }

  /// The path of a lock; nil if there is no folder for locks.
  private static func path(_ label: String) -> String? {
    guard let folder = try? UserDirectories.state(), (try? Folders.make(folder)) != nil else { return nil }
    return "\(folder)/sign-in-\(label).lock"
  }

  private static func scopes(in note: [UInt8]) -> [String]? {
    (try? JSON.parse(note))?["scopes"]?.array?.compactMap { $0.string }
  }

  /// Takes a lock, and waits while another process has it.
  /// - Returns: the lock, and whether this process had to wait for another process that had the lock.
  private static func take(
    _ label: String, _ session: CommandSession, saying what: String
  ) throws(Failure) -> (SignInLock, wasAwaited: Bool)? {
    guard let path = Self.path(label) else { return nil }
    var isTold = false
    while true {
      switch SignInLock.take(path) {
      case .taken(let lock): return (lock, isTold)
      case .impossible: return nil
      case .held(let process):
        if !isTold {
          isTold = true
          let name = process.map { "Process \($0)" } ?? "Another process"
          Terminal.errors.say("\(name) is signing in \(what); waiting for it to end.")
        }
      }
      do throws(Failure) { try session.pause(milliseconds: 200) } catch {
        throw Failure(.interrupted, "stopped; nothing has changed")
      }
    }
  }
}

extension Context {
  /// A label in the names of files about sign-ins of this account. It is the same in each process.
  var signInLabel: String {
    let path = (try? Self.absolute(configurationPath)) ?? configurationPath
    return String(ResourceProfile.label("\(path)\n\(store)\n\(account)"), radix: 16)
  }
}
