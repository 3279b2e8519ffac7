// The traces of a secret in this process's memory, read as a debugger does: through /proc/self/mem, which
// returns an error for unmapped memory.

import EnrollCrypto
import Expectations
import Foundation
import Testing

@Suite("What secrets leave behind (R40)", .serialized, .enabled(if: Memory.isReadable))
struct WipeTests {
  @Test("a secret's memory is wiped when the last reference to it goes")
  func wiped() throws {
    let mark = Memory.mark()
    let bytes = Array(repeatElement(mark, count: 16).joined())
    var address = 0
    do {
      let secret = bytes.withUnsafeBytes { Secret($0) }
      address = Int(bitPattern: secret.unsafeBytes.baseAddress)
      expect(Memory.read(address, bytes.count), is: bytes)
    }
    // The allocator may have reused this memory, but not with these bytes.
    let left = Memory.read(address, bytes.count)
    expect(left?.firstRange(of: mark), is: nil)
  }

  @Test("a fill that fails leaves nothing of what it wrote")
  func failedFill() {
    let mark = Memory.mark()
    var address = 0
    _ = try? Secret(count: 64) { (output) throws(CryptoError) in
      address = Int(bitPattern: output.baseAddress)
      output.copyBytes(from: mark)
      output[32...].copyBytes(from: mark)
      throw CryptoError(.library, "no")
    }
    expect(address, isNot: 0)
    expect(Memory.read(address, 64)?.firstRange(of: mark), is: nil)
  }

  @Test("making a secret of a text or of bytes leaves no copy but the caller's")
  func madeOfText() throws {
    let mark = Memory.mark()
    // The array is filled in place, so that it leaves no copies elsewhere.
    var bytes = [UInt8](repeating: 0, count: 1024 * mark.count)
    for at in bytes.indices { bytes[at] = mark[at % mark.count] }
    let text = String(decoding: bytes, as: UTF8.self)
    let before = try Memory.count(of: mark)
    #expect(before >= 2048)
    expect(Secret(text).count, is: bytes.count)
    expect(Secret(bytes).count, is: bytes.count)
    #expect(try Memory.count(of: mark) < before + 100)
    expect(bytes.count, is: text.utf8.count)
  }
}

private enum Memory {
  private static let file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
  private static let map = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)
  /// Whether the tests can read all of this process's memory. False under a sanitizer, whose own memory spans terabytes
  /// of addresses, too many to read.
  static var isReadable: Bool {
    file >= 0 && map >= 0 && writable().reduce(0) { $0 + $1.count } < 1 << 40
  }

  /// The ranges of memory to which this process may write.
  private static func writable() -> [Range<Int>] {
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = pread(map, &piece, piece.count, off_t(text.count))
      guard count > 0 else { break }
      text += piece[..<count]
    }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      let ends = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
      return words.count > 1 && words[1].hasPrefix("rw") && ends.count == 2 ? ends[0]..<ends[1] : nil
    }
  }

  /// 32 bytes that occur nowhere else.
  static func mark() -> [UInt8] {
    (0..<32).map { _ in UInt8.random(in: 0x61...0x7A) }
  }

  static func read(_ address: Int, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return pread(file, &bytes, count, off_t(address)) == count ? bytes : nil
  }

  /// How often these bytes occur in the memory to which this process may write.
  static func count(of mark: [UInt8]) throws -> Int {
    // The pattern is changed by one bit, so that the search itself adds no copy of it.
    let hidden = mark.map { $0 ^ 1 }
    let size = 1 << 20
    let window = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    try #require(window != MAP_FAILED)
    let buffer = try #require(window)
    defer { munmap(buffer, size) }
    let places = writable()
    try #require(!places.isEmpty)
    // Memory is searched in pieces that are read into this buffer, so the buffer itself is not searched. The system may
    // have joined the buffer's range with neighbouring ranges, so the rest of the joined range is searched.
    let own = Int(bitPattern: buffer)..<Int(bitPattern: buffer) + size
    let others = places.flatMap { place in
      place.overlaps(own)
        ? [place.lowerBound..<own.lowerBound, own.upperBound..<place.upperBound] : [place]
    }
    var found = 0
    for place in others {
      for start in stride(from: place.lowerBound, to: place.upperBound, by: size - hidden.count) {
        let count = pread(file, buffer, min(size, place.upperBound - start), off_t(start))
        if count > 0 { found += occurrences(hidden, in: UnsafeRawBufferPointer(start: buffer, count: count)) }
      }
    }
    return found
  }

  private static func occurrences(_ hidden: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int {
    guard bytes.count >= hidden.count, let start = bytes.baseAddress else { return 0 }
    var found = 0
    var at = 0
    // memchr is many times faster than a loop in Swift.
    while let next = memchr(start + at, Int32(hidden[0] ^ 1), bytes.count - at) {
      at = UnsafeRawPointer(next) - start
      guard at + hidden.count <= bytes.count else { break }
      if hidden.indices.allSatisfy({ bytes[at + $0] == hidden[$0] ^ 1 }) { found += 1 }
      at += 1
    }
    return found
  }
}
