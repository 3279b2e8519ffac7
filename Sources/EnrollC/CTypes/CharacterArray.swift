// Text in the fixed arrays of C structs, and text that lives for ever.

import EnrollCore

enum CharacterArray {
  /// Writes `text` and a NUL into an array, cut at a character's boundary when it is too long.
  static func write<Array>(_ text: String, to array: inout Array) {
    withUnsafeMutableBytes(of: &array) { room in
      guard var count = room.isEmpty ? nil : Optional(room.count - 1) else { return }
      let utf8 = text.utf8
      if utf8.count > count {
        var boundary = utf8.index(utf8.startIndex, offsetBy: count)
        while count > 0, utf8[boundary] & 0xC0 == 0x80 {
          boundary = utf8.index(before: boundary)
          count -= 1
        }
      } else {
        count = utf8.count
      }
      for (offset, byte) in utf8.prefix(count).enumerated() { room[offset] = byte }
      for offset in count..<room.count { room[offset] = 0 }
    }
  }
}

/// Text terminated by a NUL that is never freed: names of constants, handed out as `const char *`.
struct PermanentText: @unchecked Sendable {
  // Unchecked: written once, before anybody else sees it.
  let pointer: UnsafePointer<CChar>

  init(_ text: String) {
    let bytes = text.utf8
    let room = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (offset, byte) in bytes.enumerated() { room[offset] = CChar(bitPattern: byte) }
    room[bytes.count] = 0
    pointer = UnsafePointer(room)
  }
}

/// The names of numbers, in the order of the numbers: `first` is the first one's.
struct NameTable: Sendable {
  private let first: Int32
  private let names: [PermanentText]
  private let unknown = PermanentText("unknown")

  init(from first: Int32, _ names: [String]) {
    self.first = first
    var texts: [PermanentText] = []
    for name in names { texts.append(PermanentText(name)) }
    self.names = texts
  }

  func name(of number: Int32) -> UnsafePointer<CChar> {
    let (index, overflow) = number.subtractingReportingOverflow(first)
    guard !overflow, index >= 0, index < names.count else { return unknown.pointer }
    return names[Int(index)].pointer
  }
}
