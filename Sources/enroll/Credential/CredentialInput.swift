// Reads the question from standard input.

import CPosix
import EnrollJSON

enum CredentialInput {
  private static let limit = 1 << 20

  /// Reads to the end of the input.
  /// - Returns: the input; empty for an input above the limit, because a part of the input may name another host than
  ///   the whole.
  static func all() -> [UInt8] { read { _ in false } }

  static func text() -> String { String(validating: all(), as: UTF8.self) ?? "" }

  /// Reads the whole input as JSON; nil if the input is not JSON.
  static func json() -> JSON? { try? JSON.parse(all()) }

  /// Reads only one line, because the program keeps the pipe open.
  static func line() -> [UInt8] { read { $0.last == UInt8(ascii: "\n") } }

  private static func read(until isWhole: ([UInt8]) -> Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while !isWhole(bytes), Interrupts.wait(for: STDIN_FILENO) {
      let count = piece.withUnsafeMutableBytes { CPosix.read(STDIN_FILENO, $0.baseAddress, $0.count) }
      if count < 0, [EINTR, EAGAIN].contains(enroll_posix_errno()) { continue }
      guard count > 0 else { break }
      bytes += piece[..<count]
      guard bytes.count <= limit else {
        Terminal.errors.say("enroll: the question is longer than \(limit) bytes, so it gets no answer.")
        return []
      }
    }
    return bytes
  }
}
