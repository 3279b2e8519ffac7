// Bytes that are passed to C and wiped when C frees them. A buffer is also a handle, so that the bytes are freed only
// once, even if C copies the struct and frees both copies (R41).

import CEnroll
import EnrollRules
import EnrollCrypto

/// The bytes of one enroll_buf, followed by a NUL.
final class Buffer {
  let bytes: UnsafeMutablePointer<CChar>
  let size: Int

  init(_ content: UnsafeRawBufferPointer) {
    size = content.count
    bytes = .allocate(capacity: content.count + 1)
    let memory = UnsafeMutableRawBufferPointer(start: bytes, count: content.count + 1)
    memory.copyMemory(from: content)
    memory[content.count] = 0
  }

  deinit {
    Wipe.bytes(UnsafeMutableRawBufferPointer(start: bytes, count: size))
    bytes.deallocate()
  }

  static let table = HandleTable<Buffer>(kind: 3)
}

extension enroll_buf {
  /// Makes a buffer with a copy of the content.
  /// - Throws: `.busy` if C still has a million buffers that it has not freed.
  init(_ content: UnsafeRawBufferPointer) throws(EnrollError) {
    let buffer = Buffer(content)
    guard let handle = Buffer.table.insert(buffer) else {
      throw EnrollError(.busy, "too many buffers are in use: free them with enroll_buf_free")
    }
    self.init()
    data = UnsafePointer(buffer.bytes)
    size = buffer.size
    owner = handle
  }

  init(_ bytes: [UInt8]) throws(EnrollError) {
    let made = bytes.withUnsafeBytes { content in Result { () throws(EnrollError) in try enroll_buf(content) }
    }
    self = try made.get()
  }

  init(_ text: String) throws(EnrollError) { try self.init(Array(text.utf8)) }

  init(_ secret: Secret) throws(EnrollError) {
    self = try secret.withBytes { content throws(EnrollError) in try enroll_buf(content) }
  }
}

extension enroll_buf {
  /// Makes a buffer for each content, and an empty buffer for nil. If one buffer cannot be made, the others are freed.
  static func all(_ contents: [Secret?]) throws(EnrollError) -> [enroll_buf] {
    var made: [enroll_buf] = []
    do throws(EnrollError) {
      for content in contents {
        made.append(try content.map { (one) throws(EnrollError) in try enroll_buf(one) } ?? enroll_buf())
      }
    } catch {
      for buffer in made { _ = Buffer.table.remove(buffer.owner) }
      throw error
    }
    return made
  }
}

@_cdecl("enroll_buf_free") @implementation
public func enroll_buf_free(_ buffer: BufferOut?) {
  guard let buffer else { return }
  _ = Buffer.table.remove(buffer.pointee.owner)
  buffer.pointee = enroll_buf()
}
