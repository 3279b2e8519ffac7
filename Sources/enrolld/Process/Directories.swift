// Where a user's configurations and tokens are (XDG Base Directory Specification): the daemon's and the command line's
// defaults; a library has none.

import CPosix
import EnrollCommands
import EnrollCore
import EnrollJSON

enum Directories {
  static let surroundings = Surroundings(
    configuration: { name throws(EnrollError) in try configuration(name) },
    defaultStore: { () throws(EnrollError) in try own("XDG_DATA_HOME", "/.local/share") },
    defaultKeys: .automatic)

  /// Bytes of a configuration file.
  private static let limit = 1 << 20

  private static func configuration(_ name: String) throws(EnrollError) -> JSON {
    guard isPlain(name) else {
      throw EnrollError(
        .invalidArgument, "configurationName: 1 to 64 letters, digits or -_. were expected, the first no dot",
        field: "configurationName")
    }
    let path = try own("XDG_CONFIG_HOME", "/.config") + "/\(name).json"
    let fd = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
    guard fd >= 0 else {
      throw EnrollError(
        .notFound, "the configuration \(name) cannot be opened (errno \(enroll_posix_errno()))",
        field: "configurationName")
    }
    defer { close(fd) }
    do throws(JSONError) {
      return try JSON.parse(try bytes(fd, name))
    } catch {
      throw EnrollError(
        .configuration, "the configuration \(name): \(error.message) (byte \(error.offset))",
        field: "configurationName")
    }
  }

  /// Letters, digits, `-_.`: a name cannot leave its directory.
  private static func isPlain(_ name: String) -> Bool {
    let bytes = name.utf8
    return (1...64).contains(bytes.count) && bytes.first != UInt8(ascii: ".")
      && bytes.allSatisfy {
        ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
          || $0 == UInt8(ascii: ".")
      }
  }

  private static func bytes(_ fd: Int32, _ name: String) throws(JSONError) -> [UInt8] {
    var content: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = piece.withUnsafeMutableBytes { read(fd, $0.baseAddress, $0.count) }
      if count == 0 { return content }
      guard count > 0 else { throw JSONError("it cannot be read (errno \(enroll_posix_errno()))") }
      content += piece[..<count]
      guard content.count <= limit else { throw JSONError("it is longer than \(limit) bytes") }
    }
  }

  /// `enrollkit` in the directory that the variable names, or in its default under the user's home. Relative ones are
  /// ignored, as the specification asks.
  private static func own(_ variable: String, _ fallback: String) throws(EnrollError) -> String {
    if let path = value(variable), path.utf8.first == UInt8(ascii: "/") { return "\(path)/enrollkit" }
    if let home = value("HOME"), home.utf8.first == UInt8(ascii: "/") {
      return "\(home)\(fallback)/enrollkit"
    }
    throw EnrollError(.notFound, "neither \(variable) nor HOME names an absolute path")
  }

  private static func value(_ variable: String) -> String? { getenv(variable).map { String(cString: $0) } }
}
