// The default paths of the user's configurations and tokens (XDG Base Directory Specification), which the programs
// share. A library has no default: its host passes a path (flows.md §1).

import CPosix
public import EnrollRules
public import EnrollJSON

/// The directories of the user who runs the program.
public enum UserDirectories {
  /// The maximum size of a file that is read, in bytes.
  private static let limit = 1 << 20

  /// `$XDG_DATA_HOME/enrollkit`, or `~/.local/share/enrollkit`.
  /// - Throws: `.notFound` if no variable names an absolute path.
  public static func store() throws(EnrollError) -> String { try own("XDG_DATA_HOME", "/.local/share") }

  /// The path of ``store()``. Also makes the parent folders with mode 0700, as the XDG specification requires. If a
  /// folder cannot be made, this call does not fail; the later attempt to make the store then reports the reason.
  /// - Throws: as ``store()``.
  public static func storeInMadeFolders() throws(EnrollError) -> String {
    let path = try store()
    if let slash = path.utf8.lastIndex(of: 0x2F) { _ = OwnerPermissions.makeFolders(String(path[..<slash])) }
    return path
  }

  /// `$XDG_CONFIG_HOME/enrollkit`, or `~/.config/enrollkit`.
  /// - Throws: as ``store()``.
  public static func configurations() throws(EnrollError) -> String { try own("XDG_CONFIG_HOME", "/.config") }

  /// `$XDG_STATE_HOME/enrollkit`, or `~/.local/state/enrollkit`: data that a program keeps between its runs.
  /// - Throws: as ``store()``.
  public static func state() throws(EnrollError) -> String { try own("XDG_STATE_HOME", "/.local/state") }

  /// The file of the configuration with that name.
  /// - Throws: `.invalidArgument` for a name that could lead out of the directory; the errors of ``store()``.
  public static func configurationPath(_ name: String) throws(EnrollError) -> String {
    guard isPlain(name) else {
      throw EnrollError(
        .invalidArgument, "configurationName: expected 1 to 64 letters, digits or -_., the first no dot",
        field: "configurationName")
    }
    return try configurations() + "/\(name).json"
  }

  /// The name of the member with the hosts that get a token. Only the command line reads this member of a
  /// configuration's file. It is not a configuration key, so every program removes it before it opens a client.
  public static let credentialHosts = "credentialHosts"

  /// The configuration in a file's JSON.
  public static func configuration(in file: JSON) -> JSON {
    guard var members = file.object, members[credentialHosts] != nil else { return file }
    members[credentialHosts] = nil
    return .object(members)
  }

  /// The configuration with that name, not validated yet. Relative paths of files start at ``configurations()``.
  /// - Throws: as ``configurationPath(_:)`` and ``readConfiguration(at:called:)``.
  public static func configuration(_ name: String) throws(EnrollError) -> JSON {
    let read = configuration(in: try readConfiguration(at: configurationPath(name), called: name))
    return try Configuration.resolvingFiles(of: read) { path throws(EnrollError) in
      try configurations() + "/" + path
    }
  }

  /// - Parameters:
  ///   - name: the configuration's name in error messages.
  ///   - wait: called with a pipe's descriptor while the pipe is empty; it throws to stop waiting. nil if the path must
  ///     not be a pipe.
  /// - Throws: `.notFound` if there is no file; `.configuration` if it cannot be opened or is not JSON; errors of
  ///   `wait`.
  public static func readConfiguration(
    at path: String, called name: String, as kind: String = "configuration",
    wait: ((Int32) throws(EnrollError) -> Void)? = nil
  ) throws(EnrollError) -> JSON {
    let place = PrintableText.bounded(path, maximumBytes: 300)
    let source = Source(
      shown: "the \(kind) \(ASCII.equals(name, path) ? place : "\(name) (\(place))")",
      field: "configurationName")
    let content = try bytes(at: path, source, wait)
    do throws(JSONError) {
      return try JSON.parse(content)
    } catch {
      throw source.refusal(
        content.starts(with: [0xEF, 0xBB, 0xBF])
          ? "it begins with a byte order mark; expected UTF-8 without one"
          : "\(error.message) (byte \(error.offset))")
    }
  }

  /// The client secret in a file, or in a pipe with a path in `/dev/fd`. A newline at its end is removed.
  /// - Throws: `.notFound` if there is no file; `.configuration` if it cannot be opened or is not text; errors of
  ///   `wait`.
  public static func readClientSecret(
    at path: String, called kind: String = "client secret", field: String = "clientSecret",
    wait: ((Int32) throws(EnrollError) -> Void)? = nil
  ) throws(EnrollError) -> String {
    let source = Source(
      shown: "the \(kind)'s file \(PrintableText.bounded(path, maximumBytes: 300))", field: field)
    var content = try bytes(at: path, source, wait)
    if content.last == UInt8(ascii: "\n") { content.removeLast() }
    if content.last == UInt8(ascii: "\r") { content.removeLast() }
    // Only the encoding is checked here; the configuration checks the characters.
    guard let text = String(validating: content, as: UTF8.self) else {
      throw source.refusal("it is not UTF-8")
    }
    return text
  }

  /// The name of a file in error messages, and the field of those errors.
  private struct Source {
    let shown: String
    let field: String

    func refusal(_ why: String) -> EnrollError {
      EnrollError(.configuration, "\(shown): \(why)", field: field)
    }
  }

  private static func bytes(
    at path: String, _ source: Source, _ wait: ((Int32) throws(EnrollError) -> Void)?
  ) throws(EnrollError) -> [UInt8] {
    let fd = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
    guard fd >= 0 else {
      let number = enroll_posix_errno()
      throw EnrollError(
        SystemError.isMissingFile(number) ? .notFound : .configuration,
        "\(source.shown) cannot be opened: \(SystemError.message(number))", field: source.field)
    }
    defer { close(fd) }
    var status = stat()
    let mode = fstat(fd, &status) == 0 ? Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) : 0
    let isPipe = mode == Int32(S_IFIFO)
    if isPipe, wait == nil { throw source.refusal("it is a pipe; expected a file") }
    if mode == Int32(S_IFREG), status.st_mode & 0o002 != 0 {
      throw source.refusal(
        "every user of this machine may write to it (mode \(String(status.st_mode & 0o777, radix: 8))); take that away with"
          + " chmod o-w")
    }
    var content: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = piece.withUnsafeMutableBytes { read(fd, $0.baseAddress, $0.count) }
      if count == 0 {
        if isPipe, content.isEmpty { throw source.refusal("it is a pipe, and nothing was read from it") }
        return content
      }
      guard count > 0 else {
        let number = enroll_posix_errno()
        if number == EAGAIN, let wait {
          try wait(fd)
          continue
        }
        throw source.refusal("it cannot be read: \(SystemError.message(number))")
      }
      content += piece[..<count]
      guard content.count <= limit else { throw source.refusal("it is longer than \(limit) bytes") }
    }
  }

  /// Whether the name has only letters, digits and `-_.`, and no dot at its start. Such a name cannot lead out of its
  /// directory.
  private static func isPlain(_ name: String) -> Bool {
    let bytes = name.utf8
    return (1...64).contains(bytes.count) && bytes.first != UInt8(ascii: ".")
      && bytes.allSatisfy {
        ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
          || $0 == UInt8(ascii: ".")
      }
  }

  /// `enrollkit` in the directory that the variable names, or in the default directory under the user's home. Relative
  /// paths are ignored, as the specification requires.
  private static func own(_ variable: String, _ fallback: String) throws(EnrollError) -> String {
    if let path = try value(variable), path.utf8.first == UInt8(ascii: "/") { return "\(path)/enrollkit" }
    let home = try value("HOME") ?? homeOfPasswordDatabase
    if let home, home.utf8.first == UInt8(ascii: "/") {
      return "\(home)\(fallback)/enrollkit"
    }
    throw EnrollError(.notFound, "neither \(variable) nor HOME names an absolute path")
  }

  /// The home of the user in the password database, for a program that is started without HOME.
  package static var homeOfPasswordDatabase: String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    guard getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil,
      let home = entry.pw_dir
    else { return nil }
    return String(validatingCString: home)
  }

  /// The certificate file that OpenSSL's variable `SSL_CERT_FILE` names; nil if it is unset or not an absolute path.
  public static var certificateFile: String? {
    guard let path = try? value("SSL_CERT_FILE"), path.utf8.first == UInt8(ascii: "/") else { return nil }
    return path
  }

  private static func value(_ variable: String) throws(EnrollError) -> String? {
    guard let bytes = getenv(variable) else { return nil }
    guard let text = String(validatingCString: bytes) else {
      throw EnrollError(.unsupported, "\(variable) is not UTF-8; set it to a path in UTF-8")
    }
    return text
  }
}
