// Bytes that must not leak: they are not printable, are compared in constant time, and are wiped when the last
// reference ends (R40). Copies that a caller makes with `reveal`, and copies inside jansson and libcurl, cannot be
// wiped. This file also has two operations for memory that other code owns: wiping, and comparison in constant time.

import COpenSSL

/// A token, key or verifier. Copies of the value share its memory, which is wiped when the last of them ends.
public struct Secret: @unchecked Sendable, Equatable {
  // Unchecked: the memory is written once, in init, and only read afterwards.
  private let memory: WipedMemory

  /// Copies `bytes`.
  public init(_ bytes: UnsafeRawBufferPointer) {
    memory = .make(count: bytes.count)
    memory.bytes.copyMemory(from: bytes)
  }

  /// Creates `count` bytes, which `fill` writes in place; bytes that it does not write are zero. The bytes are wiped if
  /// `fill` throws.
  public init(
    count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(CryptoError) -> Void
  ) throws(CryptoError) {
    self.init(zeros: max(count, 0))
    try fill(memory.bytes)
  }

  private init(zeros count: Int) {
    memory = .make(count: count)
    memory.bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// The number of bytes.
  public var count: Int { memory.header }

  /// Whether there are no bytes.
  public var isEmpty: Bool { count == 0 }

  /// Copies `bytes`. The caller's array is not wiped.
  public init(_ bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { Secret($0) }
  }

  /// Copies the UTF-8 of `text` directly from its memory, because an array in between would not be wiped.
  public init(_ text: String) {
    memory = .make(count: text.utf8.count)
    let isCopied: Void? = text.utf8.withContiguousStorageIfAvailable {
      memory.bytes.copyMemory(from: UnsafeRawBufferPointer($0))
    }
    if isCopied == nil { memory.bytes.copyBytes(from: text.utf8) }
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
    UnsafeRawBufferPointer(memory.bytes)
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
    return enroll_equal_memory(left.unsafeBytes.baseAddress, right.unsafeBytes.baseAddress, left.count) == 1
  }
}

/// Memory of a fixed size that is wiped when it is freed. The header is the number of bytes, which follow the header in
/// the same allocation.
private final class WipedMemory: ManagedBuffer<Int, UInt8> {
  /// The bytes are not initialised.
  static func make(count: Int) -> WipedMemory {
    unsafeDowncast(create(minimumCapacity: count) { _ in count }, to: WipedMemory.self)
  }

  /// The bytes themselves, for a caller that keeps this object alive while it uses them.
  var bytes: UnsafeMutableRawBufferPointer {
    withUnsafeMutablePointers { UnsafeMutableRawBufferPointer(start: $1, count: $0.pointee) }
  }

  deinit { Wipe.bytes(bytes) }
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
