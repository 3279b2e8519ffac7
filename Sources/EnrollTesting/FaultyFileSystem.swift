// A file system that fails when a test asks for it. All operations of the store under test go through this file
// system.

import EnrollHost
public import EnrollStore

/// Counts and observes the operations of another file system, and makes them fail as a test wants.
public final class FaultyFileSystem: FileSystem {
  /// One call of an operation.
  public struct Call: Sendable {
    /// The operation of the file system.
    public var operation: FileOperation
    /// The file's name; nil if the operation has no file name.
    public var name: String?
  }

  /// The effect on a call, which is decided before the call.
  public enum Fault: Sendable {
    /// The operation fails with this `errno` and has no effect.
    case error(Int32)
    /// A write accepts at most this many bytes. A read returns at most this many bytes, but at least one. Any
    /// other operation succeeds.
    case short(Int)
  }

  private let base: any FileSystem
  private let before: @Sendable (Call) -> Fault?
  private let after: @Sendable (Call) -> Void
  private let kindOfFilesystem: UInt32?

  /// - Parameters:
  ///   - base: the file system that handles calls without a fault.
  ///   - before: called before each call; nil means no fault.
  ///   - after: called after each call that succeeded.
  ///   - kind: the magic number that every folder reports for its file system.
  public init(
    _ base: any FileSystem = PosixFileSystem(), kind: UInt32? = nil,
    before: @escaping @Sendable (Call) -> Fault? = { _ in nil },
    after: @escaping @Sendable (Call) -> Void = { _ in }
  ) {
    self.base = base
    self.before = before
    self.after = after
    kindOfFilesystem = kind
  }

  public var user: UInt32 { base.user }

  private func pass<Value>(
    _ operation: FileOperation, _ name: String?, _ body: () throws(FileFault) -> Value
  ) throws(FileFault) -> Value {
    try pass(operation, name) { _ throws(FileFault) in try body() }
  }

  /// Performs one operation, or makes it fail as the test wants.
  /// - Parameter body: performs the operation; its argument is the number of bytes that it may transfer.
  private func pass<Value>(
    _ operation: FileOperation, _ name: String?, _ body: (Int) throws(FileFault) -> Value
  ) throws(FileFault) -> Value {
    let call = Call(operation: operation, name: name)
    let value: Value
    switch before(call) {
    case .error(let number): throw FileFault(operation, number)
    case .short(let count): value = try body(count)
    case nil: value = try body(.max)
    }
    after(call)
    return value
  }

  public func makeFolder(_ path: String) throws(FileFault) {
    try pass(.makeFolder, path) { () throws(FileFault) in try base.makeFolder(path) }
  }

  public func openFolder(_ path: String) throws(FileFault) -> Int32 {
    try pass(.openFolder, path) { () throws(FileFault) in try base.openFolder(path) }
  }

  public func open(_ name: String, in folder: Int32, for access: FileAccess) throws(FileFault) -> Int32 {
    try pass(.open, name) { () throws(FileFault) in try base.open(name, in: folder, for: access) }
  }

  public func openLock(_ name: String, in folder: Int32) throws(FileFault) -> Int32 {
    try pass(.openLock, name) { () throws(FileFault) in try base.openLock(name, in: folder) }
  }

  public func close(_ descriptor: Int32) {
    let call = Call(operation: .close, name: nil)
    _ = before(call)
    base.close(descriptor)
    after(call)
  }

  public func closeLock(_ descriptor: Int32) {
    let call = Call(operation: .closeLock, name: nil)
    _ = before(call)
    base.closeLock(descriptor)
    after(call)
  }

  public func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileFault) -> Int {
    try pass(.read, nil) { (limit) throws(FileFault) in
      // A read of 0 bytes would mean the end of the file.
      let count = min(max(1, limit), buffer.count)
      return try base.read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  public func readBack(
    _ descriptor: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FileFault) -> Int {
    try pass(.readBack, nil) { (limit) throws(FileFault) in
      let count = min(max(1, limit), buffer.count)
      return try base.readBack(
        descriptor, at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  public func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileFault) -> Int {
    try pass(.write, nil) { (limit) throws(FileFault) in
      try base.write(descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<min(limit, bytes.count)]))
    }
  }

  public func allocate(_ descriptor: Int32, _ count: Int64) throws(FileFault) {
    try pass(.allocate, nil) { () throws(FileFault) in try base.allocate(descriptor, count) }
  }

  public func truncate(_ descriptor: Int32, to count: Int64) throws(FileFault) {
    try pass(.truncate, nil) { () throws(FileFault) in try base.truncate(descriptor, to: count) }
  }

  public func sync(_ descriptor: Int32) throws(FileFault) {
    try pass(.sync, nil) { () throws(FileFault) in try base.sync(descriptor) }
  }

  public func rename(_ old: String, to new: String, in folder: Int32) throws(FileFault) {
    try pass(.rename, new) { () throws(FileFault) in try base.rename(old, to: new, in: folder) }
  }

  public func renameNew(_ old: String, to new: String, in folder: Int32) throws(FileFault) {
    try pass(.renameNew, new) { () throws(FileFault) in try base.renameNew(old, to: new, in: folder) }
  }

  public func unlink(_ name: String, in folder: Int32) throws(FileFault) {
    try pass(.unlink, name) { () throws(FileFault) in try base.unlink(name, in: folder) }
  }

  public func status(_ descriptor: Int32) throws(FileFault) -> FileStatus {
    try pass(.status, nil) { () throws(FileFault) in try base.status(descriptor) }
  }

  public func status(_ name: String, in folder: Int32) throws(FileFault) -> FileStatus {
    try pass(.statusByName, name) { () throws(FileFault) in try base.status(name, in: folder) }
  }

  public func status(ofPath path: String) throws(FileFault) -> FileStatus {
    try pass(.statusByPath, path) { () throws(FileFault) in try base.status(ofPath: path) }
  }

  public func kind(_ descriptor: Int32) throws(FileFault) -> UInt32 {
    let kind = try pass(.kind, nil) { () throws(FileFault) in try base.kind(descriptor) }
    return kindOfFilesystem ?? kind
  }

  public func list(_ folder: Int32) throws(FileFault) -> [String] {
    try pass(.list, nil) { () throws(FileFault) in try base.list(folder) }
  }

  public func lock(_ descriptor: Int32) throws(FileFault) -> Bool {
    try pass(.lock, nil) { () throws(FileFault) in try base.lock(descriptor) }
  }

  public func unlock(_ descriptor: Int32) throws(FileFault) {
    try pass(.unlock, nil) { () throws(FileFault) in try base.unlock(descriptor) }
  }
}
