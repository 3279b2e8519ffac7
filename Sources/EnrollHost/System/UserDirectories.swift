// Where a user's configurations and tokens are (XDG Base Directory Specification): the defaults of the programs, which
// thereby share them. A library has none: its host says where (flows.md §1).

import CPosix
public import EnrollCore
public import EnrollJSON

/// The directories of the user who runs the program.
public enum UserDirectories {
  /// Bytes of a configuration file.
  private static let limit = 1 << 20

  /// `$XDG_DATA_HOME/enrollkit`, or `~/.local/share/enrollkit`.
  /// - Throws: `.notFound` where no variable names an absolute path.
  public static func store() throws(EnrollError) -> String { try own("XDG_DATA_HOME", "/.local/share") }

  /// `$XDG_CONFIG_HOME/enrollkit`, or `~/.config/enrollkit`.
  /// - Throws: as ``store()``.
  public static func configurations() throws(EnrollError) -> String { try own("XDG_CONFIG_HOME", "/.config") }

  /// `$XDG_STATE_HOME/enrollkit`, or `~/.local/state/enrollkit`: what a program notes between its runs.
  /// - Throws: as ``store()``.
  public static func state() throws(EnrollError) -> String { try own("XDG_STATE_HOME", "/.local/state") }

  /// The file of the configuration with that name.
  /// - Throws: `.invalidArgument` for a name that could leave the directory; as ``store()``.
  public static func configurationPath(_ name: String) throws(EnrollError) -> String {
    guard isPlain(name) else {
      throw EnrollError(
        .invalidArgument, "configurationName: 1 to 64 letters, digits or -_. were expected, the first no dot",
        field: "configurationName")
    }
    return try configurations() + "/\(name).json"
  }

  /// The configuration with that name, not checked yet.
  /// - Throws: as ``configurationPath(_:)`` and ``readConfiguration(at:called:)``.
  public static func configuration(_ name: String) throws(EnrollError) -> JSON {
    try readConfiguration(at: configurationPath(name), called: name)
  }

  /// - Parameter name: what errors call it.
  /// - Throws: `.notFound` where it cannot be opened; `.configuration` for what is not JSON.
  public static func readConfiguration(at path: String, called name: String) throws(EnrollError) -> JSON {
    let place = PrintableText.bounded(path, maximumBytes: 300)
    let shown = ASCII.equals(name, path) ? place : "\(name) (\(place))"
    let fd = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
    guard fd >= 0 else {
      throw EnrollError(
        .notFound, "the configuration \(shown) cannot be opened (errno \(enroll_posix_errno()))",
        field: "configurationName")
    }
    defer { close(fd) }
    do throws(JSONError) {
      return try JSON.parse(try bytes(fd))
    } catch {
      throw EnrollError(
        .configuration, "the configuration \(shown): \(error.message) (byte \(error.offset))",
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

  private static func bytes(_ fd: Int32) throws(JSONError) -> [UInt8] {
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
