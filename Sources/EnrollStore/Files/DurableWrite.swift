// The durable replacement of one of the store's files. After a crash at any moment the file has its old content or its
// new content; after the save has returned, the file has the new content (store.md, Durable writes).

import CPosix
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollPosix

extension StoreFolder {
  /// Replaces a file durably: exclusive temporary file → write → sync → read back → rename → sync the folder. If the
  /// sync fails, or the file does not read back as it was written, the temporary file is deleted, and a new one is
  /// written. The same file is not synced again, because a second sync could succeed although the data are not on the
  /// disk. A call that was interrupted (EINTR) is repeated.
  /// - Parameter reserve: reserved space from ``reserve(_:_:)``. It is used if the disk is full or no file can be
  ///   opened.
  /// - Returns: the status of the new file.
  func replace(
    _ name: String, with bytes: [UInt8], temporary: String, reserve: ReservedSpace? = nil
  ) throws(EnrollError) -> FileStatus {
    var spare: ReservedSpace?
    do {
      return try write(bytes, to: temporary, andNameIt: name, over: nil)
    } catch {
      try? discard(temporary)
      // The error names the file on which the operation failed: unlink and open work on the temporary file.
      let name = error.operation == .unlink || error.operation == .open ? temporary : name
      if error.isLackOfSpace {
        guard let reserve, reserve.isOpen else { throw StoreFault.error(error, name, in: path) }
        spare = reserve
      } else if !error.needsNewFile {
        throw StoreFault.error(error, name, in: path)
      }
    }
    do {
      return try write(bytes, to: temporary, andNameIt: name, over: spare)
    } catch {
      try? discard(temporary)
      throw StoreFault.error(error, name, in: path)
    }
  }

  private func write(
    _ bytes: [UInt8], to temporary: String, andNameIt name: String, over reserve: ReservedSpace?
  ) throws(FileFault) -> FileStatus {
    let status = try write(bytes, to: temporary, over: reserve)
    try StoreFault.retrying { () throws(FileFault) in try system.rename(temporary, to: name, in: folder) }
    try StoreFault.retrying { () throws(FileFault) in try system.sync(folder) }
    return status
  }

  private func write(
    _ bytes: [UInt8], to temporary: String, over reserve: ReservedSpace? = nil
  ) throws(FileFault) -> FileStatus {
    let descriptor = try openTemporary(temporary, over: reserve)
    defer { system.close(descriptor) }
    try fill(descriptor, bytes)
    if reserve != nil {
      try StoreFault.retrying { () throws(FileFault) in
        try system.truncate(descriptor, to: Int64(bytes.count))
      }
    }
    try StoreFault.retrying { () throws(FileFault) in try system.sync(descriptor) }
    let status = try StoreFault.retrying { () throws(FileFault) in try system.status(descriptor) }
    try readBack(descriptor, status, bytes)
    return status
  }

  /// Requires that the file has exactly the bytes that were written: another part of the program may have written to
  /// the descriptor. Only then is the file renamed to its name.
  private func readBack(_ descriptor: Int32, _ status: FileStatus, _ bytes: [UInt8]) throws(FileFault) {
    guard status.size == Int64(bytes.count) else { throw FileFault(.readBack, EIO) }
    var found = [UInt8](repeating: 0, count: min(bytes.count, 1 << 16))
    // The bytes are wiped, because they may come from a key file.
    defer { found.withUnsafeMutableBytes { Wipe.bytes($0) } }
    var compared = 0
    while compared < bytes.count {
      let count = try StoreFault.retrying { () throws(FileFault) in
        try found.withUnsafeMutableBytes { buffer in
          Result { () throws(FileFault) in
            try system.readBack(descriptor, at: Int64(compared), into: buffer)
          }
        }.get()
      }
      guard (1...(bytes.count - compared)).contains(count),
        Self.isSame(found.span.extracting(..<count), bytes.span.extracting(compared..<(compared + count)))
      else { throw FileFault(.readBack, EIO) }
      compared += count
    }
  }

  private static func isSame(_ found: Span<UInt8>, _ written: Span<UInt8>) -> Bool {
    found.withUnsafeBytes { found in written.withUnsafeBytes { ConstantTime.equal(found, $0) } }
  }

  private func fill(_ descriptor: Int32, _ bytes: [UInt8]) throws(FileFault) {
    var written = 0
    while written < bytes.count {
      let count = try StoreFault.retrying { () throws(FileFault) in
        try bytes.withUnsafeBytes { buffer in
          let rest = UnsafeRawBufferPointer(rebasing: buffer[written...])
          return Result { () throws(FileFault) in try system.write(descriptor, rest) }
        }.get()
      }
      guard count > 0 else { throw FileFault(.write, EIO) }
      written += count
    }
  }

  private func openTemporary(_ name: String, over reserve: ReservedSpace?) throws(FileFault) -> Int32 {
    if let reserve, let descriptor = reserve.takeDescriptor() {
      do {
        try StoreFault.retrying { () throws(FileFault) in
          try system.rename(reserve.name, to: name, in: folder)
        }
        return descriptor
      } catch {
        system.close(descriptor)
        guard error.number == ENOENT else { throw error }
      }
    }
    do {
      return try StoreFault.retrying { () throws(FileFault) in
        try system.open(name, in: folder, for: .making)
      }
    } catch {
      guard error.number == EEXIST else { throw error }
    }
    // A process that died left this file. The caller holds the lock of this name, so no other process is using it.
    try StoreFault.retrying { () throws(FileFault) in try system.unlink(name, in: folder) }
    return try StoreFault.retrying { () throws(FileFault) in try system.open(name, in: folder, for: .making)
    }
  }

  /// Creates a file, allocates disk space for `count` bytes, and keeps the file open.
  /// - Throws: `.storeFull`.
  func reserve(_ name: String, _ count: Int64) throws(EnrollError) -> ReservedSpace {
    try discard(name)
    let descriptor = try attempt(name) { () throws(FileFault) in
      try system.open(name, in: folder, for: .making)
    }
    let space = ReservedSpace(name, descriptor, system)
    do {
      try attempt(name) { () throws(FileFault) in try system.allocate(descriptor, count) }
    } catch {
      try? discard(name)
      throw error
    }
    return space
  }

  /// Creates a file durably, if no file with that name exists.
  /// - Returns: false if the file exists already. It is not changed.
  func make(_ name: String, with bytes: [UInt8], temporary: String) throws(EnrollError) -> Bool {
    do throws(FileFault) {
      do throws(FileFault) {
        _ = try write(bytes, to: temporary)
      } catch {
        guard error.needsNewFile else { throw error }
        try? discard(temporary)
        _ = try write(bytes, to: temporary)
      }
      try StoreFault.retrying { () throws(FileFault) in try system.renameNew(temporary, to: name, in: folder)
      }
      try StoreFault.retrying { () throws(FileFault) in try system.sync(folder) }
      return true
    } catch {
      try? discard(temporary)
      if error.number == EEXIST { return false }
      throw StoreFault.error(error, name, in: path)
    }
  }

  /// Removes a file, if it exists. The removal is not synced.
  func discard(_ name: String) throws(EnrollError) {
    _ = try attempt(name) { () throws(FileFault) in
      try StoreFault.nilIfMissing { () throws(FileFault) in try system.unlink(name, in: folder) }
    }
  }

  /// Makes earlier renames and removals durable, by a sync of the folder.
  func sync() throws(EnrollError) {
    try attempt(nil) { () throws(FileFault) in try system.sync(folder) }
  }

  /// Renames a damaged file. Fails if the new name exists already.
  func setAside(_ name: String, as other: String) throws(EnrollError) {
    try attempt(name) { () throws(FileFault) in try system.renameNew(name, to: other, in: folder) }
    try sync()
  }
}

/// Allocated disk space and an open descriptor for it, so that a save can succeed on a full disk or in a process
/// without free descriptors.
final class ReservedSpace: Sendable {
  let name: String
  private let system: any FileSystem
  private let descriptor: Guarded<Int32?>

  fileprivate init(_ name: String, _ descriptor: Int32, _ system: any FileSystem) {
    self.name = name
    self.system = system
    self.descriptor = Guarded(descriptor, by: Mutex())
  }

  deinit { if let descriptor = takeDescriptor() { system.close(descriptor) } }

  var isOpen: Bool { descriptor.withLock { $0 != nil } }

  /// The first call returns the descriptor, which the caller then has to close. Every later call returns nil.
  fileprivate func takeDescriptor() -> Int32? {
    descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
  }
}

extension FileFault {
  /// Whether the error is a lack of space or of descriptors, so that the reserved space and descriptor would help.
  fileprivate var isLackOfSpace: Bool { [ENOSPC, EDQUOT, EMFILE, ENFILE].contains(number) }
  /// Whether a new file must be written, because after this error the same file must not be synced or read again.
  fileprivate var needsNewFile: Bool { operation == .sync || operation == .readBack }
}
