// The terminal without echo, for a secret. Whatever stops or ends the program meanwhile finds the terminal as it was; when the
// program goes on, the echo goes again.

import CPosix

/// A class because what it changed is changed back once.
final class Silence {
  /// The signals that stop the program or end it at once, and the one that continues it.
  private static let signals = [SIGTSTP, SIGQUIT, SIGCONT]

  /// Readable once one of the signals came, for ``takeSignals()``.
  let descriptor: Int32
  private let writer: Int32
  private var usual: [Int32: sigaction] = [:]
  private var shown = termios()
  private var isSilent = false

  /// nil where stdin is no terminal.
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

  /// Does what the signals ask for, on a terminal that is as it was.
  func takeSignals() {
    let numbers = taken()
    guard let number = numbers.first(where: { $0 != SIGCONT }) else {
      // Somebody stopped the program without asking it. The terminal has been a shell's meanwhile.
      isSilent = false
      return
    }
    show()
    // The system's default, and not the Swift runtime's report of a crash.
    var byDefault = sigaction()
    var watched = sigaction()
    sigaction(number, &byDefault, &watched)
    // Stops here until SIGCONT, or ends.
    kill(getpid(), number)
    sigaction(number, &watched, nil)
    _ = taken()
  }

  private func taken() -> [Int32] {
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
