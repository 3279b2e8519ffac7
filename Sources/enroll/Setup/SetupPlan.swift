// What `enroll setup` changes: files, links, and the commands of tools. It is shown before anything is done.

import CPosix
import EnrollPosix

/// The changes for one tool, in the order in which they are made.
struct SetupPlan {
  enum Step {
    /// A command of the tool.
    case run([String])
    /// A file with another content. `old` is nil for a file that does not exist.
    case write(path: String, old: String?, new: String)
    case link(path: String, to: String)
    case unlink(String)
  }

  var steps: [Step] = []
  /// What the user has to know or to do.
  var notes: [String] = []

  /// The changes as people read them: commands, and the lines of files that go (-) and come (+).
  var lines: [String] {
    steps.flatMap { step in
      switch step {
      case .run(let words): [words.map { ShellWord.quoted($0) }.joined(separator: " ")]
      case .link(let path, let target): ["ln -s \(ShellWord.quoted(target)) \(ShellWord.quoted(path))"]
      case .unlink(let path): ["rm \(ShellWord.quoted(path))"]
      case .write(let path, let old, let new): ["\(path):"] + Self.difference(old ?? "", new)
      }
    }
  }

  /// The lines between the common beginning and the common end.
  private static func difference(_ old: String, _ new: String) -> [String] {
    var old = lines(of: old)[...]
    var new = lines(of: new)[...]
    while let first = old.first, first == new.first {
      old.removeFirst()
      new.removeFirst()
    }
    while let last = old.last, last == new.last {
      old.removeLast()
      new.removeLast()
    }
    return old.map { "- \($0)" } + new.map { "+ \($0)" }
  }

  private static func lines(of text: String) -> [String] {
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// - Throws: `.failed` at the first step that fails; the steps before it are done.
  func perform() throws(Failure) {
    for step in steps {
      switch step {
      case .run(let words):
        guard let ending = ToolRun.run(words) else {
          throw Failure(
            .failed, "\(words[0]) cannot be started", advice: "Install it, or write the lines by hand.")
        }
        guard ending.status == 0 else {
          throw Failure(.failed, "\(words.map { ShellWord.quoted($0) }.joined(separator: " ")) failed")
        }
      case .write(let path, _, let new): try SetupFile.write(new, to: path)
      case .link(let path, let target):
        try Folders.make(Folders.parent(of: path))
        guard symlink(target, path) == 0 else {
          throw Failure(
            .failed, "\(path) cannot be made: \(SystemError.message(enroll_posix_errno()))")
        }
      case .unlink(let path): unlink(path)
      }
    }
  }
}

/// A file of another program.
enum SetupFile {
  /// nil if there is no such file.
  /// - Throws: `.failed` for a file that cannot be read, or is not UTF-8: it is not changed then.
  static func read(_ path: String) throws(Failure) -> String? {
    let descriptor = enroll_posix_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
    guard descriptor >= 0 else {
      let number = enroll_posix_errno()
      guard !SystemError.isMissingFile(number) else { return nil }
      throw Failure(.failed, "\(path) cannot be read: \(SystemError.message(number))")
    }
    defer { close(descriptor) }
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

  /// The path without links; nil if there is no such file.
  static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Whether there is a file, or a link, also one that leads nowhere.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// nil if the path is no link.
  static func linkTarget(_ path: String) -> String? {
    var letters = [CChar](repeating: 0, count: 4096)
    let count = readlink(path, &letters, letters.count)
    return count > 0 ? String(decoding: letters[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }

  /// Replaces the file atomically, with the mode that it has. A link stays one: its target is replaced.
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

  /// `enroll` if the shell finds it, else the path of this program.
  static var word: String { inPath(name) == nil ? path : name }

  /// The path for a link: the one that stays the same when the program is replaced by a newer one.
  static var path: String {
    if let path = inPath(name) { return path }
    return enroll_posix_program().flatMap { SetupFile.realPath(String(cString: $0)) } ?? name
  }

  /// The path of a program in PATH.
  static func inPath(_ name: String) -> String? {
    folders.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  static var folders: [String] {
    (Environment.process["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { String($0) }
      .filter { $0.hasPrefix("/") }
  }
}
