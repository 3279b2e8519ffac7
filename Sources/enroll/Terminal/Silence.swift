// A terminal without echo, for typing a secret. A signal that stops or ends the program restores the terminal first;
// after the program continues, the echo is off again.

import CPosix

/// Turns off a terminal's echo. A class, because the terminal is restored only once.
final class Silence {
  /// The signals that stop or end the program, and the signal that continues it.
  private static let signals = [SIGTSTP, SIGQUIT, SIGCONT]

  /// A descriptor that is readable after one of the signals, for ``handleSignals()``.
  let descriptor: Int32
  private let writer: Int32
  private var usual: [Int32: sigaction] = [:]
  private var shown = termios()
  private var isSilent = false

  /// Turns the echo off; nil if stdin is not a terminal.
  init?() {
    var shown = termios()
    var ends: [Int32] = [-1, -1]
    guard tcgetattr(STDIN_FILENO, &shown) == 0, enroll_posix_pipe(&ends) == 0 else { return nil }
    (descriptor, writer) = (ends[0], ends[1])
    self.shown = shown
    for number in Self.signals where enroll_posix_is_signal_ignored(number) == 0 {
      var action = sigaction()
      enroll_posix_watch_signal(number, writer, &action)
      usual[number] = action
    }
  }

  func begin() {
    var silent = shown
    silent.c_lflag &= ~tcflag_t(ECHO)
    silent.c_lflag |= tcflag_t(ECHONL)
    isSilent = true
    set(silent)
  }

  func end() {
    show()
    for (number, action) in usual {
      var action = action
      sigaction(number, &action, nil)
    }
    close(descriptor)
    close(writer)
  }

  /// Restores the terminal, and then does what the signal does by default.
  func handleSignals() {
    let numbers = receivedSignals()
    guard let number = numbers.first(where: { $0 != SIGCONT }) else {
      // Another process stopped this program with SIGSTOP; the shell may have changed the terminal in the meantime.
      isSilent = false
      return
    }
    show()
    // Sets the system's default action, because the Swift runtime's action would print a crash report.
    var byDefault = sigaction()
    var watched = sigaction()
    sigaction(number, &byDefault, &watched)
    // The process stops here until SIGCONT, or ends.
    kill(getpid(), number)
    sigaction(number, &watched, nil)
    _ = receivedSignals()
  }

  private func receivedSignals() -> [Int32] {
    var numbers = [UInt8](repeating: 0, count: 64)
    let count = numbers.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    return numbers.prefix(max(0, count)).map { Int32($0) }
  }

  private func show() {
    guard isSilent else { return }
    isSilent = false
    set(shown)
  }

  private func set(_ attributes: termios) {
    var attributes = attributes
    while tcsetattr(STDIN_FILENO, TCSAFLUSH, &attributes) != 0, enroll_posix_errno() == EINTR {}
  }
}
