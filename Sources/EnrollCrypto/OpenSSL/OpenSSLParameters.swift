// A list of named values for OpenSSL's providers (`OSSL_PARAM`). OpenSSL keeps only pointers, so the list owns copies
// of the values. The list wipes the copies at its end, because some are keys.

import COpenSSL

final class OpenSSLParameters {
  private var list: [OSSL_PARAM] = []
  private var storage: [UnsafeMutableRawBufferPointer] = []

  deinit {
    for memory in storage {
      enroll_wipe_memory(memory.baseAddress, memory.count)
      memory.deallocate()
    }
  }

  func add(_ name: StaticString, text: StaticString) {
    let copy = text.withUTF8Buffer { own(UnsafeRawBufferPointer($0)) }
    append(name, type: OSSL_PARAM_UTF8_STRING, copy, count: text.utf8CodeUnitCount)
  }

  func add(_ name: StaticString, octets: [UInt8]) {
    let copy = octets.withUnsafeBytes { own($0) }
    append(name, type: OSSL_PARAM_OCTET_STRING, copy, count: octets.count)
  }

  func add(_ name: StaticString, octets: Secret) {
    let copy = octets.withBytes { own($0) }
    append(name, type: OSSL_PARAM_OCTET_STRING, copy, count: octets.count)
  }

  /// Adds an unsigned integer. `number` has its big-endian bytes; OpenSSL gets the bytes in the machine's order.
  func add(_ name: StaticString, number: [UInt8]) {
    let native = 1.littleEndian == 1 ? [UInt8](number.reversed()) : number
    let copy = native.withUnsafeBytes { own($0) }
    append(name, type: OSSL_PARAM_UNSIGNED_INTEGER, copy, count: number.count)
  }

  func withList<Result>(_ body: (UnsafeMutablePointer<OSSL_PARAM>?) -> Result) -> Result {
    var ended = list + [OSSL_PARAM()]
    return ended.withUnsafeMutableBufferPointer { body($0.baseAddress) }
  }

  private func own(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer {
    // The copy ends with an extra zero byte, because OpenSSL reads some texts up to a NUL and ignores their size.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 1, alignment: 16)
    copy.copyMemory(from: bytes)
    copy[bytes.count] = 0
    storage.append(copy)
    return copy
  }

  private func append(
    _ name: StaticString, type: Int32, _ data: UnsafeMutableRawBufferPointer, count: Int
  ) {
    name.withCString { key in
      list.append(
        OSSL_PARAM(
          key: key, data_type: UInt32(type), data: data.baseAddress, data_size: count, return_size: 0))
    }
  }
}
