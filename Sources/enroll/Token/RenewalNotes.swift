// Notes about tokens that the program has printed, kept between its runs. They are in a small file in the user's state
// directory, which only the user can read. They contain only a digest of each token (R40).

import CPosix
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollRules

struct RenewalNotes {
  private static let name = "tokens.json"
  /// The maximum number of tokens in the notes; the oldest tokens are dropped.
  private static let limit = 64

  /// The file; nil if the user has no state directory.
  private let path: String?

  init() { path = (try? UserDirectories.state()).map { "\($0)/\(Self.name)" } }

  init(path: String) { self.path = path }

  /// Whether the token was printed in the last `seconds`. If it was, a program that asks again has probably seen a
  /// server refuse the token.
  func hasPrinted(_ token: String, within seconds: Int64, of now: Int64) -> Bool {
    has(token, in: "printed", within: seconds, of: now)
  }

  func add(printed token: String, at now: Int64) { add(token, .integer(now), to: "printed") }

  /// Whether the token replaced a refused token in the last `seconds`, so that another renewal is pointless.
  func isReplacement(_ token: String, within seconds: Int64, of now: Int64) -> Bool {
    has(token, in: "replacements", within: seconds, of: now)
  }

  func add(replacement token: String, at now: Int64) { add(token, .integer(now), to: "replacements") }

  /// Whether a program asks for this token for the second time in `seconds`, because a server refused it. A token
  /// that has just replaced another does not count: it was printed for other programs that ask at the same time.
  func isAskedAgain(_ token: String, within seconds: Int64, of now: Int64) -> Bool {
    hasPrinted(token, within: seconds, of: now) && !isReplacement(token, within: Self.sameTime, of: now)
  }

  /// If a server refuses the token of several programs at the same time, these programs ask again within this many
  /// seconds of each other.
  private static let sameTime: Int64 = 2

  /// Whether a renewal returned no new id_token in place of this id_token, so that another renewal is pointless.
  func hasNoSuccessor(_ idToken: String) -> Bool { read("last")?[Self.digest(idToken)] != nil }

  func add(withoutSuccessor idToken: String) { add(idToken, .bool(true), to: "last") }

  private func has(
    _ token: String, in member: String, within seconds: Int64, of now: Int64
  ) -> Bool {
    guard let at = read(member)?[Self.digest(token)]?.integer else { return false }
    return (0...seconds).contains(now - at)
  }

  private static func digest(_ token: String) -> String {
    (try? Digest.sha256.hash(Array(token.utf8))).map { Base64URL.encode(Array($0.prefix(16))) } ?? ""
  }

  private func read(_ member: String) -> JSON? {
    path.flatMap { try? UserDirectories.readConfiguration(at: $0, called: $0) }?[member]
  }

  /// Adds a note about a token. A failed write is ignored: the next run of the program then renews once more.
  private func add(_ token: String, _ value: JSON, to member: String) {
    guard let path, (try? Folders.make(Folders.parent(of: path))) != nil else { return }
    Self.locked("\(path).lock") {
      var document =
        (try? UserDirectories.readConfiguration(at: path, called: path))?.object ?? JSONObject()
      let digest = Self.digest(token)
      let others = (document[member]?.object?.members ?? []).filter { $0.key != digest }.suffix(
        Self.limit - 1)
      var kept = JSONObject()
      for other in others { kept[other.key] = other.value }
      kept[digest] = value
      document[member] = .object(kept)
      try? Folders.write(JSON.object(document).text + "\n", to: path)
    }
  }

  /// Runs `change` while no other process changes the file. If another process keeps the lock for long, `change` does
  /// not run: a stopped process would never release the lock.
  private static func locked(_ path: String, _ change: () -> Void) {
    let descriptor = enroll_posix_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    // The system releases the lock when the file is closed.
    defer { close(descriptor) }
    for _ in 0..<lockAttempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return change() }
      let number = enroll_posix_errno()
      guard number == EWOULDBLOCK || number == EINTR else { return }
      _ = poll(nil, 0, 5)
    }
  }

  /// The number of attempts to take the lock: they last one second, with a pause of 5 ms after each attempt.
  private static let lockAttempts = 200
}
