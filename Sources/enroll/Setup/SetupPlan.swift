// The changes that `enroll setup` makes: changes of files and links, and commands of tools that it runs. The plan is
// shown before anything is changed.

import CPosix
import EnrollPosix

/// The changes for one tool, in the order in which they are made.
struct SetupPlan: Equatable {
  enum Step: Equatable {
    /// A command of the tool.
    case run([String])
    case write(FileChange)
    case link(path: String, to: String)
    case unlink(String)
  }

  /// A file with its old and its new content.
  struct FileChange: Equatable {
    let path: String
    /// The earlier content; nil for a file that does not exist.
    let old: String?
    let new: String
    /// The removed (-) and added (+) lines. No other lines are shown, because the file may have secrets.
    let shown: [String]
  }

  var steps: [Step] = []
  /// Notes for the user: what to know, or to do.
  var notes: [String] = []
  /// The steps that the user has to do by hand; nil if there are none.
  var remainder: Remainder?

  struct Remainder: Equatable {
    let text: String
    let advice: String
  }

  static func runs(_ commands: [[String]]) -> [Step] { commands.map { .run($0) } }

  /// The changes as text for people: the commands, and the removed (-) and added (+) lines of files.
  var lines: [String] {
    steps.flatMap { step in
      switch step {
      case .run(let words): [ShellWord.line([words])]
      case .link(let path, let target): ["ln -s \(ShellWord.quoted(target)) \(ShellWord.quoted(path))"]
      case .unlink(let path): ["rm \(ShellWord.quoted(path))"]
      case .write(let change): ["\(change.path):"] + change.shown
      }
    }
  }

  /// Makes the changes.
  /// - Throws: `.failed` at the first step that fails; the steps before it stay done. Also as ``ToolRun/run(_:)``.
  func perform() throws(Failure) {
    for (index, step) in steps.enumerated() {
      switch step {
      case .run(let words):
        guard let ending = try ToolRun.run(words) else {
          throw Failure(
            .failed, "\(words[0]) cannot be started", advice: "Install it, or write the lines by hand.")
        }
        guard ending.status == 0 else {
          throw Failure(
            .failed,
            "\(words.map { ShellWord.quoted($0) }.joined(separator: " ")) failed; "
              + (index == 0 ? "nothing is changed" : "what was shown before it is done"),
            advice: "Run the command again, which does the rest.")
        }
      case .write(let change):
        guard try SetupFile.read(change.path) == change.old else {
          throw Failure(
            .failed,
            "\(change.path) has changed meanwhile, and is left as it is; "
              + (index == 0 ? "nothing is changed" : "what was shown before it is done"),
            advice: "Run the command again, which shows the changes first.")
        }
        try SetupFile.write(change.new, to: change.path)
      case .link(let path, let target):
        try Folders.make(Folders.parent(of: path))
        guard symlink(target, path) == 0 else {
          throw Failure(
            .failed,
            "\(path) cannot be made: \(SystemError.message(enroll_posix_errno())); "
              + (index == 0 ? "nothing is changed" : "what was shown before it is done"),
            advice: "Run the command again, which does the rest.")
        }
      case .unlink(let path): unlink(path)
      }
    }
  }
}

/// A file of another program.
enum SetupFile {
  /// The text of a file; nil if there is no such file.
  /// - Throws: `.failed` for a path that is not a file, for a file that cannot be read, or is not UTF-8, and for a link
  ///   whose target does not exist. Such a file is not changed.
  static func read(_ path: String) throws(Failure) -> String? {
    let descriptor = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
    guard descriptor >= 0 else {
      let number = enroll_posix_errno()
      guard !SystemError.isMissingFile(number) else {
        guard let target = linkTarget(path) else { return nil }
        throw Failure(
          .failed, "\(path) is not changed: it is a link to \(target), which does not exist",
          advice: "Make that file, or remove the link.")
      }
      throw Failure(.failed, "\(path) cannot be read: \(SystemError.message(number))")
    }
    defer { close(descriptor) }
    guard isFile(path) else {
      throw Failure(.failed, "\(path) is not changed: it is not a file, but a directory, a device or a pipe")
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = piece.withUnsafeMutableBytes { CPosix.read(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0, bytes.count < 1 << 22 else {
        throw Failure(.failed, "\(path) cannot be read, or is too long")
      }
      if count == 0 { break }
      bytes += piece[..<count]
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(.failed, "\(path) is not UTF-8")
    }
    return text
  }

  /// The path with all links resolved; nil if there is no such file.
  static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Whether the path is a regular file, or a link to a regular file.
  static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0
      && Int32(truncatingIfNeeded: status.st_mode) & Int32(S_IFMT) == Int32(S_IFREG)
  }

  /// Whether there is a file or a link. A link counts even if its target does not exist.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// The names in a folder; empty if the folder cannot be read.
  static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) { names.append(String(cString: enroll_posix_entry_name(entry))) }
    return names.sorted()
  }

  /// The target of a symbolic link; nil if the path is not a link.
  static func linkTarget(_ path: String) -> String? {
    var letters = [CChar](repeating: 0, count: 4096)
    let count = readlink(path, &letters, letters.count)
    return count > 0 ? String(decoding: letters[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }

  /// Replaces the file atomically, and keeps its mode. A link stays a link: its target is replaced.
  static func write(_ text: String, to path: String) throws(Failure) {
    let target = realPath(path) ?? path
    var status = stat()
    let mode = stat(target, &status) == 0 ? status.st_mode & 0o7777 : nil
    try Folders.make(Folders.parent(of: target))
    try Folders.write(text, to: target)
    if let mode { chmod(target, mode) }
  }
}

/// This program, as other programs start it.
enum OwnProgram {
  static let name = "enroll"

  /// `enroll` if it is in PATH, otherwise the path of this program.
  static var word: String { inPath(name) == nil ? path : name }

  /// The path for a link. It stays valid when a newer version replaces the program.
  static var path: String {
    if let path = inPath(name) { return path }
    return enroll_posix_program().flatMap { SetupFile.realPath(String(cString: $0)) } ?? name
  }

  /// The path of a program in PATH.
  static func inPath(_ name: String) -> String? {
    folders.map { "\($0)/\(name)" }.first { isProgram($0) }
  }

  static func isProgram(_ path: String) -> Bool { SetupFile.isFile(path) && access(path, X_OK) == 0 }

  /// Whether the path is a link to this program.
  static func isLink(_ path: String) -> Bool { SetupFile.linkTarget(path) == self.path }

  static var folders: [String] {
    (Environment.process["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { String($0) }
      .filter { $0.hasPrefix("/") }
  }
}
