// Conditional requests: whether a known document is still current (RFC 9110 §13.1.2).

enum EntityTag {
  /// The header `If-None-Match`; nil if there is no tag, or if the tag is not 1 to 256 visible characters and spaces,
  /// because such a tag is not allowed in the header.
  static func condition(_ tag: String?) -> HTTPHeader? {
    guard let tag, (1...256).contains(tag.utf8.count), tag.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
      return nil
    }
    return HTTPHeader("If-None-Match", tag)
  }
}
