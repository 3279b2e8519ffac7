// The audiences that callers named lately, in the very bytes that they used: a call that names one again compares bytes, and
// neither sorts scopes nor touches an object (performance.md, A cached token).

import CPosix
import EnrollCore

/// A table of numbers and addresses, of which only the texts are its own.
struct SpeltAudiences {
  private struct Row {
    /// The resource, and the scopes after it.
    let text: UnsafeMutableRawPointer
    let resourceCount: Int
    let scopesCount: Int
    let served: TokenPlace.Served

    @inline(__always)
    func isSpelt(_ resource: UnsafeRawBufferPointer, _ scopes: UnsafeRawBufferPointer) -> Bool {
      guard resource.count == resourceCount, scopes.count == scopesCount else { return false }
      // Resources of one host differ in their ends.
      return Self.isEqual(text, resource) && Self.isEqual(text + resourceCount, scopes)
    }

    @inline(__always)
    private static func isEqual(_ text: UnsafeMutableRawPointer, _ other: UnsafeRawBufferPointer) -> Bool {
      guard let start = other.baseAddress, !other.isEmpty else { return true }
      let last = other.count - 1
      return text.load(fromByteOffset: last, as: UInt8.self) == other[last] && memcmp(text, start, last) == 0
    }
  }

  private var rows: UnsafeMutablePointer<Row>?
  private var count = 0

  /// - Returns: nil for one that was not spelt so.
  @inline(__always)
  func served(
    _ resource: UnsafeRawBufferPointer, _ scopes: UnsafeRawBufferPointer
  ) -> TokenPlace.Served? {
    guard let rows else { return nil }
    for index in 0..<count where rows[index].isSpelt(resource, scopes) { return rows[index].served }
    return nil
  }

  /// - Parameter served: its token has to be kept until ``removeAll()``.
  mutating func append(
    _ resource: UnsafeRawBufferPointer, _ scopes: UnsafeRawBufferPointer, _ served: TokenPlace.Served
  ) {
    if count == AudienceTokens.limit { removeAll() }
    let rows = self.rows ?? .allocate(capacity: AudienceTokens.limit)
    self.rows = rows
    let text = UnsafeMutableRawPointer.allocate(byteCount: resource.count + scopes.count, alignment: 1)
    for (part, offset) in [(resource, 0), (scopes, resource.count)] {
      if let start = part.baseAddress { (text + offset).copyMemory(from: start, byteCount: part.count) }
    }
    (rows + count).initialize(
      to: Row(text: text, resourceCount: resource.count, scopesCount: scopes.count, served: served))
    count += 1
  }

  mutating func removeAll() {
    guard let rows else { return }
    for index in 0..<count { rows[index].text.deallocate() }
    rows.deallocate()
    (self.rows, count) = (nil, 0)
  }
}
