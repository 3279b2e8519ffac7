// Facts about other processes from /proc on Linux. On other systems, and if /proc is not mounted, every result is
// empty.

import CPosix

package enum ProcessTable {
  /// The processes that hold an flock(2), and the inode of the locked file. A process of another container is not in
  /// the list.
  package static func lockHolders() -> [(process: Int32, inode: UInt64)] {
    lines(of: "/proc/locks").compactMap { line in
      // A line of the file: `1: FLOCK  ADVISORY  WRITE 4711 00:2a:1234 0 EOF`.
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]), process > 0,
        let inode = words[5].split(separator: ":").last.flatMap({ UInt64($0) })
      else { return nil }
      return (process, inode)
    }
  }

  /// Whether a signal or a debugger has stopped the process.
  package static func isStopped(_ process: Int32) -> Bool {
    // The process name in parentheses may contain any character.
    guard let line = lines(of: "/proc/\(process)/stat").first,
      let end = line.utf8.lastIndex(of: UInt8(ascii: ")"))
    else { return false }
    let state = line.utf8[end...].dropFirst(2).first
    return state == UInt8(ascii: "T") || state == UInt8(ascii: "t")
  }

  /// Whether the process has a file of that name open.
  package static func hasOpen(_ name: String, _ process: Int32) -> Bool {
    let folder = "/proc/\(process)/fd"
    guard let entries = opendir(folder) else { return false }
    defer { closedir(entries) }
    var target = [CChar](repeating: 0, count: 4_096)
    while let entry = readdir(entries) {
      let path = folder + "/" + String(cString: enroll_posix_entry_name(entry))
      let count = readlink(path, &target, target.count)
      if count > 0,
        target[..<count].map({ UInt8(bitPattern: $0) }).suffix(name.utf8.count + 1)
          .elementsEqual(("/" + name).utf8)
      {
        return true
      }
    }
    return false
  }

  private static func lines(of path: String) -> [String] {
    let descriptor = enroll_posix_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count < 1 << 20 {
      let count = read(descriptor, &part, part.count)
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
  }
}
