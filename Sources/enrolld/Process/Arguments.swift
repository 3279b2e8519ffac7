// Reads the command line with getopt_long, and has the help text. Secrets are never passed as arguments, because other
// users can read arguments (R40).

import CPosix
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix

enum Arguments {
  enum Action {
    case serve(LogLevel)
    case help, version, manifest
    /// The arguments are wrong. The reason was printed to stderr.
    case refused
  }

  static let help = """
    usage: enrolld [--log-level LEVEL]
           enrolld --manifest | --version | --help

    EnrollKit for any language: registration and sign-in through an external browser, and a token that renews itself,
    as JSON-RPC 2.0 on standard input and output. Each message is one line, or follows Content-Length headers; the first
    byte selects the framing.

      --log-level LEVEL  what to log to standard error: error, warning (the default), info or debug
      --manifest         print every command, event and error as JSON, with JSON Schemas, and exit
      --version          print the version and exit
      --help             print this and exit

    """

  private static let options: [(name: StaticString, takes: Int32, letter: UInt8)] = [
    ("help", no_argument, UInt8(ascii: "h")), ("version", no_argument, UInt8(ascii: "v")),
    ("manifest", no_argument, UInt8(ascii: "m")), ("log-level", required_argument, UInt8(ascii: "l")),
  ]

  static func read() -> Action {
    guard let given = ProcessArguments.pointers() else {
      return refused("the command line cannot be read: enrolld needs glibc for that")
    }
    // getopt_long gets a copy, because it reorders the pointers.
    var words: [UnsafeMutablePointer<CChar>?] = []
    for word in given { words.append(word) }
    words.append(nil)
    let count = Int32(given.count)
    var entries = options.map { option in
      CPosix.option(
        name: UnsafeRawPointer(option.name.utf8Start).assumingMemoryBound(to: CChar.self),
        has_arg: option.takes, flag: nil, val: Int32(option.letter))
    }
    entries.append(CPosix.option())

    var level = LogLevel.warning
    var argument: UnsafePointer<CChar>?
    var operand: Int32 = 0
    while true {
      let found = enroll_posix_long_option(count, &words, entries, &argument, &operand)
      switch found {
      case Int32(UInt8(ascii: "h")): return .help
      case Int32(UInt8(ascii: "v")): return .version
      case Int32(UInt8(ascii: "m")): return .manifest
      case Int32(UInt8(ascii: "l")):
        guard let named = argument.flatMap({ LogLevel(String(cString: $0)) }) else {
          return refused("--log-level is error, warning, info or debug")
        }
        level = named
      case -1: return operand < count ? refused("expected no operand") : .serve(level)
      default: return refused("see enrolld --help")
      }
    }
  }

  private static func refused(_ text: String) -> Action {
    Log(.error).error(text)
    return .refused
  }
}

extension LogLevel {
  fileprivate init?(_ name: String) {
    guard let level = LogLevel.allCases.first(where: { ASCII.equals($0.name, name) }) else { return nil }
    self = level
  }
}

/// Prints a text instead of serving: the help, the version or the manifest.
enum StandardOutput {
  /// Prints a text.
  /// - Returns: the exit status, 1 if the text could not be written completely.
  static func print(_ text: String) -> Int32 {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, enroll_posix_errno() == EINTR { continue }
      guard count > 0 else {
        Log(.error).error("standard output cannot be written: \(SystemError.message(enroll_posix_errno()))")
        return 1
      }
      bytes = bytes.dropFirst(count)
    }
    return 0
  }
}
