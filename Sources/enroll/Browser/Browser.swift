// The system's browser: $BROWSER if the user set it, else xdg-open. This program does not wait until the browser ends.
// The browser has its own process group, so that Ctrl-C ends the sign-in and not the browser. The browser does not
// inherit this program's standard streams.

import CPosix
import EnrollRules

struct Browser {
  /// The commands to try, in this order: each is a program with its arguments, with or without `%s` for the
  /// URL.
  let commands: [[String]]
  /// Why there is no browser; nil if there is one.
  let absence: String?

  /// - Parameter isProgram: whether a program of this name can be started.
  init(_ environment: Environment = .process, isProgram: (String) -> Bool = Browser.isProgram) {
    if let named = environment["BROWSER"] {
      commands = named.split(separator: ":").map { $0.split(separator: " ").map(String.init) }
        .filter { !$0.isEmpty && isProgram($0[0]) }
      absence = commands.isEmpty ? "BROWSER names no program that can be started" : nil
      return
    }
    if environment["DISPLAY"] == nil && environment["WAYLAND_DISPLAY"] == nil {
      (commands, absence) = ([], "there is no desktop: neither DISPLAY nor WAYLAND_DISPLAY is set")
    } else if isProgram("xdg-open") {
      (commands, absence) = ([["xdg-open"]], nil)
    } else {
      (commands, absence) = ([], "xdg-open is not installed")
    }
  }

  var name: String? { commands.first?.first }

  /// Replaces `%s` by the URL. A command without `%s` gets the URL as its last argument, as in other programs that use
  /// BROWSER.
  static func words(_ command: [String], address: String) -> [String] {
    guard command.contains(where: { ASCII.contains($0, "%s") }) else { return command + [address] }
    return command.map { word in
      var filled: [UInt8] = []
      var rest = word.utf8[...]
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.first == UInt8(ascii: "s") {
          rest.removeFirst()
          filled += address.utf8
        } else {
          filled.append(byte)
        }
      }
      return String(decoding: filled, as: UTF8.self)
    }
  }

  /// Opens the URL.
  /// - Returns: the program that opens the URL; nil if no program could be started.
  func open(_ address: String) -> Opener? {
    for command in commands {
      if let child = Self.start(Self.words(command, address: address)) {
        return Opener(child: child, name: command[0])
      }
    }
    return nil
  }

  static func isProgram(_ name: String) -> Bool {
    if name.contains("/") { return access(name, X_OK) == 0 }
    let folders = Environment.process["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return folders.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
  }

  private static func start(_ words: [String]) -> pid_t? {
    ChildProcess.start(words, hasOwnGroup: true) { files in
      for (descriptor, flags) in [
        (STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_WRONLY), (STDERR_FILENO, O_WRONLY),
      ] {
        posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", flags, 0)
      }
    }
  }
}

/// A running program that opens a URL. A class, because the program's end can be observed only once.
final class Opener {
  let name: String
  private var child: pid_t?

  init(child: pid_t, name: String) {
    self.child = child
    self.name = name
  }

  /// Waits a moment, because a program without a desktop fails at once.
  /// - Throws: `.failed` if the program has failed; `.interrupted` by Ctrl-C.
  func requireSuccess(_ session: CommandSession) throws(Failure) {
    let end = session.instant.advanced(bySeconds: 1)
    while child != nil, session.instant < end {
      if let status = failure() {
        throw Failure(
          .failed, "the browser did not open: \(name) ended with status \(status)",
          advice: "Run \(.login) in a terminal, which shows the address to open.")
      }
      try session.pause(milliseconds: 20)
    }
  }

  /// The exit status of the program if it has just failed; nil otherwise.
  func failure() -> Int32? {
    guard let child else { return nil }
    let status = enroll_posix_ending(child)
    if status >= 0 { self.child = nil }
    return status > 0 ? status : nil
  }
}
