// How a file of the store is replaced, so that after a crash at any moment the old content or the new one is there, and the new
// one whenever the save was acknowledged (store.md, Durable writes).

import CPosix
import EnrollCore
import EnrollCrypto
import EnrollPosix

extension StoreFolder {
  /// Replaces a file durably: exclusive temporary file → write → sync → read back → rename → sync the folder. After a failed
  /// sync the temporary file is thrown away and written anew: syncing it again could succeed without its data being on the
  /// disk. The same when it does not read back as it was written. A call that was interrupted has not failed, and goes on.
  /// - Parameter reserve: made by ``reserve(_:_:)``, and used when the disk is full or no file can be opened.
  /// - Returns: the status of the new file.
  func replace(
    _ name: String, with bytes: [UInt8], temporary: String, reserve: ReservedSpace? = nil
  ) throws(EnrollError) -> FileStatus {
    var spare: ReservedSpace?
    do {
      return try write(bytes, to: temporary, andNameIt: name, over: nil)
    } catch {
      try? discard(temporary)
      // It stands where the new file is to be written.
      let name = error.operation == .unlink || error.operation == .open ? temporary : name
      if error.isForWantOfRoom {
        guard let reserve, reserve.isThere else { throw StoreFault.error(error, name, in: path) }
        spare = reserve
      } else if !error.isMendedByWritingAnew {
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
    try StoreFault.patiently { () throws(FileFault) in try system.rename(temporary, to: name, in: folder) }
    try StoreFault.patiently { () throws(FileFault) in try system.sync(folder) }
    return status
  }

  private func write(
    _ bytes: [UInt8], to temporary: String, over reserve: ReservedSpace? = nil
  ) throws(FileFault) -> FileStatus {
    let descriptor = try openTemporary(temporary, over: reserve)
    defer { system.close(descriptor) }
    try fill(descriptor, bytes)
    if reserve != nil {
      try StoreFault.patiently { () throws(FileFault) in
        try system.truncate(descriptor, to: Int64(bytes.count))
      }
    }
    try StoreFault.patiently { () throws(FileFault) in try system.sync(descriptor) }
    let status = try StoreFault.patiently { () throws(FileFault) in try system.status(descriptor) }
    try readBack(descriptor, status, bytes)
    return status
  }

  /// Nothing but what was written may get the file's name: another part of the program may have written to the descriptor.
  private func readBack(_ descriptor: Int32, _ status: FileStatus, _ bytes: [UInt8]) throws(FileFault) {
    guard status.size == Int64(bytes.count) else { throw FileFault(.readBack, EIO) }
    var found = [UInt8](repeating: 0, count: min(bytes.count, 1 << 16))
    // A key file passes here as well.
    defer { found.withUnsafeMutableBytes { Wipe.bytes($0) } }
    var compared = 0
    while compared < bytes.count {
      let count = try StoreFault.patiently { () throws(FileFault) in
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
      let count = try StoreFault.patiently { () throws(FileFault) in
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
    if let reserve, let descriptor = reserve.take() {
      do {
        try StoreFault.patiently { () throws(FileFault) in
          try system.rename(reserve.name, to: name, in: folder)
        }
        return descriptor
      } catch {
        system.close(descriptor)
        guard error.number == ENOENT else { throw error }
      }
    }
    do {
      return try StoreFault.patiently { () throws(FileFault) in
        try system.open(name, in: folder, for: .making)
      }
    } catch {
      guard error.number == EEXIST else { throw error }
    }
    // Left by a process that died: whoever writes this name holds the account's lock, so nobody is using it.
    try StoreFault.patiently { () throws(FileFault) in try system.unlink(name, in: folder) }
    return try StoreFault.patiently { () throws(FileFault) in try system.open(name, in: folder, for: .making)
    }
  }

  /// Makes a file of `count` bytes whose space is really there, and keeps it open.
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

  /// Makes a file that must not be there yet, durably.
  /// - Returns: false where there is one, which is left as it is.
  func make(_ name: String, with bytes: [UInt8], temporary: String) throws(EnrollError) -> Bool {
    do throws(FileFault) {
      do throws(FileFault) {
        _ = try write(bytes, to: temporary)
      } catch {
        guard error.isMendedByWritingAnew else { throw error }
        try? discard(temporary)
        _ = try write(bytes, to: temporary)
      }
      try StoreFault.patiently { () throws(FileFault) in try system.renameNew(temporary, to: name, in: folder)
      }
      try StoreFault.patiently { () throws(FileFault) in try system.sync(folder) }
      return true
    } catch {
      try? discard(temporary)
      if error.number == EEXIST { return false }
      throw StoreFault.error(error, name, in: path)
    }
  }

  /// Unlinks a file that need not be there, without making that durable.
  func discard(_ name: String) throws(EnrollError) {
    _ = try attempt(name) { () throws(FileFault) in
      try StoreFault.absent { () throws(FileFault) in try system.unlink(name, in: folder) }
    }
  }

  /// Makes what was renamed and unlinked durable.
  func sync() throws(EnrollError) {
    try attempt(nil) { () throws(FileFault) in try system.sync(folder) }
  }

  /// Gives a damaged file another name, over nothing that exists.
  func setAside(_ name: String, as other: String) throws(EnrollError) {
    try attempt(name) { () throws(FileFault) in try system.renameNew(name, to: other, in: folder) }
    try sync()
  }
}

/// A file whose space is there, and the descriptor to write to it: what a save needs that must not fail for want of either.
final class ReservedSpace: Sendable {
  let name: String
  private let system: any FileSystem
  private let descriptor: Guarded<Int32?>

  fileprivate init(_ name: String, _ descriptor: Int32, _ system: any FileSystem) {
    self.name = name
    self.system = system
    self.descriptor = Guarded(descriptor, by: Mutex())
  }

  deinit { if let descriptor = take() { system.close(descriptor) } }

  var isThere: Bool { descriptor.withLock { $0 != nil } }

  /// The descriptor, which is the caller's to close; nil once it was taken.
  fileprivate func take() -> Int32? {
    descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
  }
}

extension FileFault {
  /// Whether what was reserved helps.
  fileprivate var isForWantOfRoom: Bool { [ENOSPC, EDQUOT, EMFILE, ENFILE].contains(number) }
  /// Whether another try with a new file may succeed, and the same file must not be tried again.
  fileprivate var isMendedByWritingAnew: Bool { operation == .sync || operation == .readBack }
}
