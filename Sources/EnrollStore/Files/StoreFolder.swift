// The store's folder: the checks before it is used, and how its files are read (store.md, Damage and refusal). The
// checks refuse relative paths, symbolic links, hard links, other owners, and permissions for other users. The checks
// also refuse network filesystems, unless the caller allows them.

import CPosix
import EnrollRules

/// An open folder of mode 0700 that contains plain files of mode 0600.
final class StoreFolder: Sendable {
  let path: String
  let system: any FileSystem
  let folder: Int32
  private let allowsNetworkFilesystem: Bool

  /// Opens the folder. Creates the folder if only the last component of the path is missing.
  /// - Throws: `.invalidArgument` for a path that is not absolute; `.storeRefused`; `.storeIO`; `.storeFull`.
  convenience init(
    _ path: String, system: any FileSystem, allowsNetworkFilesystem: Bool
  ) throws(EnrollError) {
    let path = try StoreFolder.absolute(path)
    try self.init(path, system, allowsNetworkFilesystem, makes: true)
  }

  private convenience init(
    _ path: String, _ system: any FileSystem, _ allowsNetworkFilesystem: Bool, makes: Bool
  ) throws(EnrollError) {
    self.init(
      path, system, allowsNetworkFilesystem, owning: try StoreFolder.open(path, system, makes: makes))
    // If the check throws, deinit closes the folder.
    try checkFolder()
  }

  /// Opens the folder that is at the path now. Does not create a folder.
  func reopened() throws(EnrollError) -> StoreFolder {
    try StoreFolder(path, system, allowsNetworkFilesystem, makes: false)
  }

  /// Opens a folder that is not a store, such as the folder of a key file. The owner and the permissions of each file
  /// are checked, but not the owner and the permissions of the folder.
  /// - Throws: `.storeRefused`, also if there is no folder.
  convenience init(foreign path: String, system: any FileSystem) throws(EnrollError) {
    let path = try StoreFolder.absolute(path)
    self.init(path, system, true, owning: try StoreFolder.open(path, system, makes: false))
  }

  /// Whether anything exists at a path, whether it is a store or not.
  /// - Throws: `.invalidArgument` for a path that is not absolute; `.storeIO`.
  static func exists(_ path: String, system: any FileSystem) throws(EnrollError) -> Bool {
    let path = try absolute(path)
    do {
      let status = try StoreFault.retrying { () throws(FileFault) in
        try StoreFault.nilIfMissing { () throws(FileFault) in try system.status(ofPath: path) }
      }
      return status != nil
    } catch {
      if error.number == ENOTDIR || error.number == ELOOP || error.number == EACCES { return true }
      throw StoreFault.error(error, nil, in: path)
    }
  }

  private init(
    _ path: String, _ system: any FileSystem, _ allowsNetworkFilesystem: Bool, owning folder: Int32
  ) {
    self.path = path
    self.system = system
    self.allowsNetworkFilesystem = allowsNetworkFilesystem
    self.folder = folder
  }

  private static func absolute(_ path: String) throws(EnrollError) -> String {
    var bytes = Array(path.utf8)
    guard bytes.first == UInt8(ascii: "/"), bytes.count < 4096, !bytes.contains(0) else {
      throw EnrollError(.invalidArgument, "the store needs an absolute path", field: "store")
    }
    // With a slash at the end, the system would follow a symbolic link.
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  deinit { system.close(folder) }

  private static func open(
    _ path: String, _ system: any FileSystem, makes: Bool
  ) throws(EnrollError) -> Int32 {
    do throws(FileFault) {
      if let folder = try StoreFault.retrying({ () throws(FileFault) in
        try StoreFault.nilIfMissing { () throws(FileFault) in try system.openFolder(path) }
      }) {
        return folder
      }
      guard makes else { throw FileFault(.openFolder, ENOENT) }
      do throws(FileFault) {
        try StoreFault.retrying { () throws(FileFault) in try system.makeFolder(path) }
        try syncParent(of: path, system)
      } catch {
        // If another process created the folder first, this process uses that folder.
        guard error.number == EEXIST else { throw error }
      }
      return try StoreFault.retrying { () throws(FileFault) in try system.openFolder(path) }
    } catch {
      throw refusal(error, path, system, makes: makes)
    }
  }

  private static func refusal(
    _ fault: FileFault, _ path: String, _ system: any FileSystem, makes: Bool
  ) -> EnrollError {
    let place = StoreFault.printable(path)
    switch fault.number {
    case ENOENT where makes: return StoreFault.creationError(path, system)
    case ENOENT: return EnrollError(.storeRefused, "the folder \(place) does not exist", field: "store")
    case ENOTDIR, ELOOP, EEXIST: return notAFolder(path)
    default: return StoreFault.error(fault, nil, in: path)
    }
  }

  static func notAFolder(_ path: String) -> EnrollError {
    EnrollError(
      .storeRefused,
      "\(StoreFault.printable(path)) is a symbolic link or no folder. Name a folder as the store, or a path where none is yet",
      field: "store")
  }

  private static func syncParent(of path: String, _ system: any FileSystem) throws(FileFault) {
    let parent = StoreFault.parent(of: path)
    let folder: Int32
    do {
      folder = try StoreFault.retrying { () throws(FileFault) in try system.openFolder(parent) }
    } catch {
      // The parent cannot be opened: it is writable but not readable, or a symbolic link. Such a parent cannot be
      // synced.
      return
    }
    defer { system.close(folder) }
    try StoreFault.retrying { () throws(FileFault) in try system.sync(folder) }
  }

  private func checkFolder() throws(EnrollError) {
    let status = try attempt(nil) { () throws(FileFault) in try system.status(folder) }
    guard status.kind == .folder else {
      throw EnrollError(.storeRefused, "\(StoreFault.printable(path)) is not a folder", field: "store")
    }
    try StoreFolder.checkOwner(
      status, user: system.user, "the store's folder \(StoreFault.printable(path))", at: path, wanted: "700")
    guard !allowsNetworkFilesystem else { return }
    let kind = try attempt(nil) { () throws(FileFault) in try system.kind(folder) }
    if let name = NetworkFilesystem.name(of: kind) {
      throw EnrollError(
        .storeRefused,
        "the store is on \(name), where locks do not hold between machines; allow it to use it anyway",
        field: "store")
    }
  }

  private static func checkOwner(
    _ status: FileStatus, user: UInt32, _ what: String, at path: String, wanted: String
  ) throws(EnrollError) {
    if let foreign = StoreFault.foreignOwner(status, user: user, what) { throw foreign }
    guard status.permissions & 0o077 == 0 else {
      throw EnrollError(
        .storeRefused,
        "\(what) has mode 0\(String(status.permissions, radix: 8)), which lets other users in; expected 0\(wanted)."
          // The error text does not advise chmod for a folder, because closing a home folder or /tmp to other users
          // would do harm.
          + (wanted == "700"
            ? " Name a folder that holds the store alone, or, if this one does, give it mode 700"
            : " Run chmod \(wanted) \(StoreFault.printable(path))"),
        field: "store")
    }
  }

  /// Checks that a file is safe to use. A file that no longer has a name is allowed: such a file was replaced while it
  /// was open.
  private func check(_ status: FileStatus, _ name: String) throws(EnrollError) {
    guard status.kind == .file else {
      throw EnrollError(.storeRefused, "\(name) is not a plain file", field: "store")
    }
    guard status.links <= 1 else {
      throw EnrollError(.storeRefused, "\(name) has \(status.links) names (hard links)", field: "store")
    }
    try Self.checkOwner(status, user: system.user, name, at: path + "/" + name, wanted: "600")
  }

  /// Runs one operation, repeats it after EINTR, and translates its error.
  /// - Parameter name: the name of a file in the folder; nil for the folder itself.
  func attempt<Value>(
    _ name: String?, _ body: () throws(FileFault) -> Value
  ) throws(EnrollError) -> Value {
    do {
      return try StoreFault.retrying(body)
    } catch {
      throw StoreFault.error(error, name, in: path)
    }
  }

  // MARK: The path

  static var replaced: EnrollError {
    EnrollError(
      .storeIO,
      "the store's folder was moved, removed or replaced while it was open, and there is no usable folder in its"
        + " place; restore it",
      field: "store")
  }

  /// Whether the open folder is still the folder at its path. If it is another folder, other processes use other files
  /// and other locks. If the path cannot be examined for lack of permission, the answer is true.
  func isAtPath() throws(EnrollError) -> Bool {
    let open = try attempt(nil) { () throws(FileFault) in try system.status(folder) }
    do {
      let there = try StoreFault.retrying { () throws(FileFault) in try system.status(ofPath: path) }
      return there.inode == open.inode && there.device == open.device
    } catch {
      switch error.number {
      case ENOENT, ENOTDIR, ELOOP: return false
      case EACCES, EPERM: return true
      default: throw StoreFault.error(error, nil, in: path)
      }
    }
  }

  // MARK: Reading

  /// The content and the status of a file; nil if there is no such file.
  /// - Throws: `.storeCorrupt` for more than `limit` bytes, `.storeRefused`, `.storeIO`.
  func read(_ name: String, limit: Int) throws(EnrollError) -> (bytes: [UInt8], status: FileStatus)? {
    guard
      let descriptor = try attempt(
        name,
        { () throws(FileFault) in
          try StoreFault.nilIfMissing { () throws(FileFault) in
            try system.open(name, in: folder, for: .reading)
          }
        })
    else {
      try checkPresent()
      return nil
    }
    defer { system.close(descriptor) }
    let status = try attempt(name) { () throws(FileFault) in try system.status(descriptor) }
    try check(status, name)
    guard status.size <= Int64(limit) else {
      throw EnrollError(.storeCorrupt, "\(name) has \(status.size) bytes, more than \(limit)", field: "store")
    }
    // The buffer has one byte more than the file, so that a growing file is noticed.
    var bytes = [UInt8](repeating: 0, count: Int(status.size) + 1)
    var count = 0
    while count < bytes.count {
      let got = try attempt(name) { () throws(FileFault) in
        try bytes.withUnsafeMutableBytes { buffer in
          let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
          return Result { () throws(FileFault) in try system.read(descriptor, into: rest) }
        }.get()
      }
      if got <= 0 { break }
      count += got
    }
    // The disk returned fewer bytes than the file's status says. This means that the disk fails, not that the file is
    // damaged.
    guard count >= Int(status.size) else {
      throw EnrollError(
        .storeIO, "\(name) has \(status.size) bytes, of which the disk gave \(count)", field: "store")
    }
    bytes.removeLast(bytes.count - Int(status.size))
    return (bytes, status)
  }

  /// The status of a file; nil if there is no such file.
  func status(_ name: String) throws(EnrollError) -> FileStatus? {
    let status = try attempt(name) { () throws(FileFault) in
      try StoreFault.nilIfMissing { () throws(FileFault) in try system.status(name, in: folder) }
    }
    if status == nil { try checkPresent() }
    return status
  }

  func names() throws(EnrollError) -> [String] {
    try attempt(nil) { () throws(FileFault) in try system.list(folder) }
  }

  /// Requires that the open folder still exists: in a removed folder every file looks missing.
  private func checkPresent() throws(EnrollError) {
    let status = try attempt(nil) { () throws(FileFault) in try system.status(folder) }
    guard status.links > 0 else {
      throw EnrollError(.storeIO, "the store's folder was removed while it was open", field: "store")
    }
  }

  // MARK: Locks

  func openLock(_ name: String) throws(EnrollError) -> Int32 {
    let descriptor = try attempt(name) { () throws(FileFault) in try system.openLock(name, in: folder) }
    do {
      let status = try attempt(name) { () throws(FileFault) in try system.status(descriptor) }
      try check(status, name)
      return descriptor
    } catch {
      system.closeLock(descriptor)
      throw error
    }
  }

  func lock(_ descriptor: Int32) throws(EnrollError) -> Bool {
    try attempt("a lock file") { () throws(FileFault) in try system.lock(descriptor) }
  }

  func unlock(_ descriptor: Int32) throws(EnrollError) {
    try attempt("a lock file") { () throws(FileFault) in try system.unlock(descriptor) }
  }

  func closeLock(_ descriptor: Int32) { system.closeLock(descriptor) }

  /// Whether the open file still has the name `name`.
  func isNamed(_ name: String, _ descriptor: Int32) throws(EnrollError) -> Bool {
    let open = try attempt(name) { () throws(FileFault) in try system.status(descriptor) }
    guard let named = try status(name) else { return false }
    return open.inode == named.inode && open.device == named.device
  }
}

// Removes the files that a process left behind when it died during a save: half-written files, and reserved space. The
// next save of the same file would also replace them. They are removed at the first use of the same account by another
// process, and whenever a call reads the whole folder anyway.
extension StoreFolder {
  /// Removes leftover files, except those that a process uses: such a process holds the locks of the file. Ignores
  /// errors, because nothing depends on the removal.
  /// - Parameter names: names of files that may exist.
  func removeLeftovers(_ names: [String]) {
    for name in names {
      guard let locks = StoreNames.locks(ofTemporary: name), (try? status(name)) != .some(.none) else {
        continue
      }
      try? discard(name, under: locks)
    }
  }

  private func discard(_ name: String, under locks: [String]) throws(EnrollError) {
    var held: [FileLock] = []
    defer { for lock in held { lock.close() } }
    for lock in locks {
      let file = try FileLock(lock, in: self)
      held.append(file)
      guard try file.tryLock() else { return }
    }
    try discard(name)
  }
}
