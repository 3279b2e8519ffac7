// Bytes that must not leak: unprintable, compared in constant time, wiped when the last reference goes (R40).
// It cannot wipe copies that a caller makes with `reveal`, nor those inside jansson and libcurl. And the two
// operations that it stands on, for memory that others own: wiping, and comparison in constant time.

import COpenSSL

/// A token, key or verifier. Holds its own memory, wiped on deinit.
public final class Secret: @unchecked Sendable, Equatable {
  // Unchecked: the memory is written once, in init, and only read afterwards.
  private let storage: UnsafeMutableRawBufferPointer

  /// Copies `bytes`.
  public init(_ bytes: UnsafeRawBufferPointer) {
    storage = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
    storage.copyMemory(from: bytes)
    count = bytes.count
  }

  /// `count` bytes that `fill` writes in place; zeros where it does not. Wiped when it throws.
  public convenience init(
    count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(CryptoError) -> Void
  ) throws(CryptoError) {
    self.init(zeros: max(count, 0))
    try fill(UnsafeMutableRawBufferPointer(rebasing: storage[..<self.count]))
  }

  private init(zeros count: Int) {
    self.count = count
    storage = .allocate(byteCount: max(count, 1), alignment: 16)
    storage.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    enroll_wipe_memory(storage.baseAddress, storage.count)
    storage.deallocate()
  }

  /// Bytes.
  public let count: Int

  /// Whether there are no bytes at all.
  public var isEmpty: Bool { count == 0 }

  /// Copies `bytes`; the caller's own stay behind.
  public convenience init(_ bytes: [UInt8]) {
    self.init(zeros: bytes.count)
    bytes.withUnsafeBytes { storage.copyMemory(from: $0) }
  }

  /// Copies the UTF-8 of `text`, straight from where it is: an array between would stay behind.
  public convenience init(_ text: String) {
    self.init(zeros: text.utf8.count)
    let isCopied: Void? = text.utf8.withContiguousStorageIfAvailable {
      storage.copyMemory(from: UnsafeRawBufferPointer($0))
    }
    if isCopied == nil { storage.copyBytes(from: text.utf8) }
  }

  /// Lends the bytes for as long as `body` runs.
  /// - Throws: what `body` throws.
  public func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(unsafeBytes)
  }

  /// The bytes where they are: for who keeps this secret alive for as long as it uses them.
  public var unsafeBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(storage)[..<count])
  }

  /// The text itself, for the one place that must send or hand it out. The copy is the caller's to guard.
  public func reveal() -> String {
    withBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// The bytes themselves; see ``reveal()``.
  public func revealBytes() -> [UInt8] {
    withBytes { Array($0) }
  }

  /// Constant time for equal lengths.
  public static func == (left: Secret, right: Secret) -> Bool {
    guard left.count == right.count else { return false }
    return enroll_equal_memory(left.storage.baseAddress, right.storage.baseAddress, left.count) == 1
  }
}

/// Overwrites memory in a way that compilers do not remove.
public enum Wipe {
  /// Zeroes every byte.
  public static func bytes(_ memory: UnsafeMutableRawBufferPointer) {
    enroll_wipe_memory(memory.baseAddress, memory.count)
  }
}

/// Comparison whose time does not tell where two values differ.
public enum ConstantTime {
  /// Whether both hold the same bytes. The lengths are no secret.
  public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { equal(left, $0) } }
  }

  /// As ``equal(_:_:)``, where they are.
  public static func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.count == right.count && enroll_equal_memory(left.baseAddress, right.baseAddress, left.count) == 1
  }
}
