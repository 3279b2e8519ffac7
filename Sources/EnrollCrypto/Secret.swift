// Bytes that must not leak: they are not printable, are compared in constant time, and are wiped when the last
// reference ends (R40). Copies that a caller makes with `reveal`, and copies inside jansson and libcurl, cannot be
// wiped. This file also has two operations for memory that other code owns: wiping, and comparison in constant time.

import COpenSSL

/// A token, key or verifier. It owns its memory, and wipes the memory when the last reference ends.
public final class Secret: @unchecked Sendable, Equatable {
  // Unchecked: the memory is written once, in init, and only read afterwards.
  private let storage: UnsafeMutableRawBufferPointer

  /// Copies `bytes`.
  public init(_ bytes: UnsafeRawBufferPointer) {
    storage = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
    storage.copyMemory(from: bytes)
    count = bytes.count
  }

  /// Creates `count` bytes, which `fill` writes in place; bytes that it does not write are zero. The bytes are wiped if
  /// `fill` throws.
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

  /// The number of bytes.
  public let count: Int

  /// Whether there are no bytes.
  public var isEmpty: Bool { count == 0 }

  /// Copies `bytes`. The caller's array is not wiped.
  public convenience init(_ bytes: [UInt8]) {
    self.init(zeros: bytes.count)
    bytes.withUnsafeBytes { storage.copyMemory(from: $0) }
  }

  /// Copies the UTF-8 of `text` directly from its memory, because an array in between would not be wiped.
  public convenience init(_ text: String) {
    self.init(zeros: text.utf8.count)
    let isCopied: Void? = text.utf8.withContiguousStorageIfAvailable {
      storage.copyMemory(from: UnsafeRawBufferPointer($0))
    }
    if isCopied == nil { storage.copyBytes(from: text.utf8) }
  }

  /// Passes the bytes to `body`. The bytes are valid only while `body` runs.
  /// - Throws: the error of `body`.
  public func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(unsafeBytes)
  }

  /// The bytes themselves, not a copy, for a caller that keeps this secret alive while it uses them.
  public var unsafeBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(storage)[..<count])
  }

  /// A copy of the text, only for code that must send the text or pass it on. The caller has to protect the copy.
  public func reveal() -> String {
    withBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// A copy of the bytes; see ``reveal()``.
  public func revealBytes() -> [UInt8] {
    withBytes { Array($0) }
  }

  /// Compares the bytes, in a time that is constant for equal lengths.
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

/// Comparison whose duration does not reveal where two values differ.
public enum ConstantTime {
  /// Whether the two values have the same bytes. The lengths are not secret.
  public static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { equal(left, $0) } }
  }

  /// Like ``equal(_:_:)``, for bytes in place.
  public static func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.count == right.count && enroll_equal_memory(left.baseAddress, right.baseAddress, left.count) == 1
  }
}
