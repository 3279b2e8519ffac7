// Runs a program until it ends, and reads its output. The programs are tools that change their own configuration, and
// this program itself for a sign-in at the terminal.

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
  ///   not UTF-8; as ``run(_:)``.
  static func output(_ words: [String]) throws(Failure) -> Ending {
    let line = words.joined(separator: " ")
    guard let ending = try run(words) else {
      throw Failure(
        .failed, "\(line) cannot be started, or prints something that is not UTF-8",
        advice: "Install \(words[0]).")
    }
    guard !ending.isCut else { throw Failure(.failed, "\(line) prints more than \(limit) bytes") }
    return ending
  }

  /// Runs a program until it ends. A signal that ends this program ends that program, too.
  /// - Parameter words: the program, which is searched in PATH, and its arguments. The program inherits this program's
  ///   standard error.
  /// - Returns: nil if the program cannot be started, or prints text that is not UTF-8.
  /// - Throws: `.interrupted` if a signal came and the program failed.
  static func run(_ words: [String]) throws(Failure) -> Ending? {
    var ends: [Int32] = [-1, -1]
    guard enroll_posix_pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    // The pipe is made blocking, because programs do not expect a non-blocking standard output.
    enroll_posix_make_blocking(ends[1])
    let started = ChildProcess.start(words) { files in
      posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO)
    }
    close(ends[1])
    guard let child = started else { return nil }
    var bytes: [UInt8] = []
    var (isCut, isStopped) = (false, false)
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = piece.withUnsafeMutableBytes { read(ends[0], $0.baseAddress, $0.count) }
      if count < 0, [EINTR, EAGAIN].contains(enroll_posix_errno()) {
        if isStopped {
          var source = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
          _ = poll(&source, 1, -1)
        } else if !Interrupts.wait(for: ends[0]) {
          kill(child, SIGTERM)
          isStopped = true
        }
        continue
      }
      guard count > 0 else { break }
      if bytes.count + count <= limit { bytes += piece[..<count] } else { isCut = true }
    }
    let status = status(of: child)
    guard !isStopped || status == 0 else {
      throw Failure(
        .interrupted, "stopped while \(words[0]) was running", advice: "Run \(.sameAgain) to do the rest.")
    }
    // Output that exceeded the limit is dropped, because it may end inside a character.
    guard let output = isCut ? "" : String(validating: bytes, as: UTF8.self) else { return nil }
    return Ending(status: status, output: output, isCut: isCut)
  }

  /// Runs a program at this terminal until it ends. It gets this program's standard input, and prints to standard error.
  /// A signal that ends this program ends that program, too.
  /// - Returns: the exit status; nil if the program cannot be started, or if its status is unknown.
  static func runAtTerminal(_ words: [String], _ session: CommandSession) -> Int32? {
    let started = ChildProcess.start(words) { files in
      posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO)
    }
    guard let child = started else { return nil }
    while true {
      let status = enroll_posix_ending(child)
      guard status < 0 else { return status }
      // The system keeps no status if the parent of this process made it ignore the ends of its children.
      guard kill(child, 0) == 0 else { return nil }
      do throws(Failure) { try session.pause(milliseconds: 50) } catch {
        // After Ctrl-C the program is ending already, and this signal has no effect.
        kill(child, SIGTERM)
        return self.status(of: child)
      }
    }
  }

  /// Waits until the program has ended, and returns its exit status; 128 and the signal's number after a signal.
  private static func status(of child: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, enroll_posix_errno() == EINTR {}
    // This is what WIFEXITED and WEXITSTATUS do; Swift cannot call these macros.
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }
}
