// The audiences that callers used recently, in exactly the bytes that the callers passed. A call that names such an
// audience again only compares bytes; it neither sorts scopes nor retains an object (performance.md, A cached token).

import CPosix
import EnrollRules

/// A table that maps the bytes of an audience to its token. It owns copies of these bytes, but not the tokens.
struct AudienceLookup {
  private struct Row {
    /// The resource, followed by the scopes.
    let text: UnsafeMutableRawPointer
    let resourceCount: Int
    let scopesCount: Int
    let view: TokenSlot.TokenView

    @inline(__always)
    func matches(_ resource: UnsafeRawBufferPointer, _ scopes: UnsafeRawBufferPointer) -> Bool {
      guard resource.count == resourceCount, scopes.count == scopesCount else { return false }
      // Compares the last byte first, because resources on one host differ at their ends.
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

  /// Finds the view of an audience's token.
  /// - Returns: nil if no audience was appended with exactly these bytes.
  @inline(__always)
  func view(
    _ resource: UnsafeRawBufferPointer, _ scopes: UnsafeRawBufferPointer
  ) -> TokenSlot.TokenView? {
    guard let rows else { return nil }
    for index in 0..<count where rows[index].matches(resource, scopes) { return rows[index].view }
    return nil
  }

  /// Adds an audience to the table.
  /// - Parameter view: a view of the audience's token, which must stay alive until ``removeAll()`` is called.
  mutating func append(
    _ resource: UnsafeRawBufferPointer, _ scopes: UnsafeRawBufferPointer, _ view: TokenSlot.TokenView
  ) {
    if count == AudienceTokens.limit { removeAll() }
    let rows = self.rows ?? .allocate(capacity: AudienceTokens.limit)
    self.rows = rows
    let text = UnsafeMutableRawPointer.allocate(byteCount: resource.count + scopes.count, alignment: 1)
    for (part, offset) in [(resource, 0), (scopes, resource.count)] {
      if let start = part.baseAddress { (text + offset).copyMemory(from: start, byteCount: part.count) }
    }
    (rows + count).initialize(
      to: Row(text: text, resourceCount: resource.count, scopesCount: scopes.count, view: view))
    count += 1
  }

  mutating func removeAll() {
    guard let rows else { return }
    for index in 0..<count { rows[index].text.deallocate() }
    rows.deallocate()
    (self.rows, count) = (nil, 0)
  }
}
