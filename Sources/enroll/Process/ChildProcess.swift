// Starts other programs. They get this program's environment, but the default handling of signals, because this program
// itself blocks some signals, and ignores SIGPIPE.

import CPosix
import EnrollPosix

enum ChildProcess {
  /// - Parameters:
  ///   - words: the program, which is searched in PATH, and its arguments.
  ///   - hasOwnGroup: whether Ctrl-C at the terminal does not reach the program.
  ///   - setFiles: sets the program's standard streams. The other streams are those of this program.
  /// - Returns: nil if the program cannot be started.
  static func start(
    _ words: [String], hasOwnGroup: Bool = false, setFiles: (inout posix_spawn_file_actions_t) -> Void
  ) -> pid_t? {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var usual = sigset_t()
    sigfillset(&usual)
    // A program that ignores SIGHUP was started by nohup.
    sigdelset(&usual, SIGHUP)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &usual)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0)))
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    setFiles(&files)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    defer { for argument in arguments { free(argument) } }
    arguments.append(nil)
    var child = pid_t()
    return posix_spawnp(&child, words[0], &files, &attributes, arguments, enroll_posix_environment()) == 0
      ? child : nil
  }
}
