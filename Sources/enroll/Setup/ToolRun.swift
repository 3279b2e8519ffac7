// Runs a program until it ends, and reads its output. The programs are tools that change their own configuration.

import CPosix
import EnrollPosix

enum ToolRun {
  /// The result of a program that has ended.
  struct Ending {
    let status: Int32
    /// The program's standard output; empty if ``isCut`` is true.
    let output: String
    /// Whether the program printed more than ``limit`` bytes.
    let isCut: Bool
  }

  static let limit = 1 << 22

  /// Runs a command whose complete output is needed.
  /// - Throws: `.failed` if the command cannot be started, prints more than ``limit`` bytes, or prints text that is
  ///   not UTF-8.
  static func output(_ words: [String]) throws(Failure) -> Ending {
    let line = words.joined(separator: " ")
    guard let ending = run(words) else {
      throw Failure(
        .failed, "\(line) cannot be started, or prints something that is not UTF-8",
        advice: "Install \(words[0]).")
    }
    guard !ending.isCut else { throw Failure(.failed, "\(line) prints more than \(limit) bytes") }
    return ending
  }

  /// Runs a program until it ends.
  /// - Parameters:
  ///   - words: the program, which is searched in PATH, and its arguments. The program inherits this program's standard
  ///     error.
  ///   - atTerminal: whether the program gets this program's standard input, and prints to standard error.
  /// - Returns: nil if the program cannot be started, or prints text that is not UTF-8.
  static func run(_ words: [String], atTerminal: Bool = false) -> Ending? {
    var ends: [Int32] = [-1, -1]
    guard enroll_posix_pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    // The pipe is made blocking, because programs do not expect a non-blocking standard output.
    enroll_posix_make_blocking(ends[1])
    guard let child = start(words, output: atTerminal ? STDERR_FILENO : ends[1], atTerminal) else {
      close(ends[1])
      return nil
    }
    close(ends[1])
    var bytes: [UInt8] = []
    var isCut = false
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = piece.withUnsafeMutableBytes { read(ends[0], $0.baseAddress, $0.count) }
      if count < 0, [EINTR, EAGAIN].contains(enroll_posix_errno()) {
        var source = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        _ = poll(&source, 1, -1)
        continue
      }
      guard count > 0 else { break }
      if bytes.count + count <= limit { bytes += piece[..<count] } else { isCut = true }
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, enroll_posix_errno() == EINTR {}
    // Output that exceeded the limit is dropped, because it may end inside a character.
    guard let output = isCut ? "" : String(validating: bytes, as: UTF8.self) else { return nil }
    // This is what WIFEXITED and WEXITSTATUS do; Swift cannot call these macros.
    return Ending(
      status: status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F), output: output, isCut: isCut)
  }

  private static func start(_ words: [String], output: Int32, _ atTerminal: Bool) -> pid_t? {
    ChildProcess.start(words) { files in
      if !atTerminal { posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) }
      posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO)
    }
  }
}
