// Compares an audience with the bytes that a caller passes. Hosts do this before every request, so nothing is
// allocated.

extension TokenAudience {
  /// Whether these bytes name this audience.
  /// - Parameters:
  ///   - resource: the audience's resource; empty for an audience without a resource.
  ///   - scopes: the audience's scopes, separated by single spaces, in any order; empty for no scopes.
  @_optimize(speed)
  public func isNamed(resource: UnsafeRawBufferPointer, scopes: UnsafeRawBufferPointer) -> Bool {
    if let own = self.resource {
      guard Self.isEqual(resource, own) else { return false }
    } else if !resource.isEmpty {
      return false
    }
    guard !self.scopes.isEmpty else { return scopes.isEmpty }
    // Each word must be one of the audience's scopes, and no scope may be missing. `found` has one bit for each scope
    // that was found, so at most 64 scopes are possible.
    var found: UInt64 = 0
    var count = 0
    var start = 0
    while start <= scopes.count {
      var end = start
      while end < scopes.count, scopes[end] != 0x20 { end += 1 }
      let word = UnsafeRawBufferPointer(rebasing: scopes[start..<end])
      guard let index = index(of: word) else { return false }
      found |= 1 << UInt64(index)
      count += 1
      start = end + 1
    }
    return count == self.scopes.count && found.nonzeroBitCount == count
  }

  private func index(of word: UnsafeRawBufferPointer) -> Int? {
    for index in scopes.indices where Self.isEqual(word, scopes[index]) { return index }
    return nil
  }

  private static func isEqual(_ left: UnsafeRawBufferPointer, _ text: String) -> Bool {
    let right = text.utf8.span
    guard left.count == right.count else { return false }
    for index in right.indices where left[index] != right[index] { return false }
    return true
  }
}
