// Writes to standard output, to which only results are written. If they cannot be written completely, the exit status
// says so.

import CPosix
import EnrollJSON
import EnrollRules

enum Output {
  /// The exit status of the program if a part of its results could not be written, because the reader is gone, the disk
  /// is full, or a signal came while the reader did not read. nil if everything was written.
  nonisolated(unsafe) private(set) static var failure: CommandStatus?

  /// A write of this size to a pipe does not block if `poll` says that the pipe can be written (`PIPE_BUF`).
  private static let atomicBytes = 4096

  /// Whether a message to standard error is dropped if nobody reads there. This is for a bridge, because its host may
  /// never read the bridge's messages.
  nonisolated(unsafe) static var dropsUnreadMessages = false

  static func line(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

  /// Members of an id_token that are about the token, not about the user (OpenID Connect Core §2, §3.1.3.6).
  private static let tokenClaims = [
    "aud", "exp", "iat", "nbf", "nonce", "azp", "jti", "sid", "at_hash", "c_hash", "s_hash",
  ]

  /// The value without the claims about a token: each profile in it has only claims about the user.
  private static func withoutTokenClaims(_ value: JSON) -> JSON {
    switch value {
    case .array(let values): return .array(values.map { withoutTokenClaims($0) })
    case .object(let object):
      var changed = object
      for member in object.members {
        var inner = withoutTokenClaims(member.value)
        if ASCII.equals(member.key, "profile"), var claims = inner.object {
          for claim in tokenClaims { claims[claim] = nil }
          inner = .object(claims)
        }
        changed[member.key] = inner
      }
      return .object(changed)
    case .null, .bool, .integer, .number, .string: return value
    }
  }

  /// Writes JSON with every control and format character escaped: a value from a provider must not move the cursor.
  /// The value of the JSON stays the same.
  static func json(_ value: JSON) { line(Shown.escaped(withoutTokenClaims(value).text)) }

  /// Writes to stdout or stderr; a failed write to stderr is ignored. A signal ends a write that waits for the reader.
  static func write(_ text: String, to descriptor: Int32) {
    // A later text must not follow a text that was cut.
    if descriptor == STDOUT_FILENO, failure == .interrupted { return }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let mayDrop = dropsUnreadMessages && descriptor == STDERR_FILENO
      guard Interrupts.wait(toWrite: descriptor, milliseconds: mayDrop ? 0 : -1) else {
        if descriptor == STDOUT_FILENO { failure = .interrupted }
        return
      }
      let count = bytes.prefix(atomicBytes).withUnsafeBytes {
        CPosix.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, enroll_posix_errno() == EINTR { continue }
      guard count > 0 else { return fail(descriptor) }
      bytes = bytes.dropFirst(count)
    }
  }

  private static func fail(_ descriptor: Int32) {
    guard descriptor == STDOUT_FILENO, failure == nil else { return }
    failure = .failed
    // EPIPE is no error: a reader such as `head` may stop reading early.
    guard enroll_posix_errno() != EPIPE else { return }
    write("enroll: standard output cannot be written\n", to: STDERR_FILENO)
  }
}
