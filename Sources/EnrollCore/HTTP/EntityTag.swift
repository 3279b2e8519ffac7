// Asking whether a document is still the one at hand (RFC 9110 §13.1.2).

enum EntityTag {
  /// nil if there is no tag, or if it does not fit in a header: visible characters and spaces only.
  static func condition(_ tag: String?) -> HTTPHeader? {
    guard let tag, (1...256).contains(tag.utf8.count), tag.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
      return nil
    }
    return HTTPHeader("If-None-Match", tag)
  }
}
