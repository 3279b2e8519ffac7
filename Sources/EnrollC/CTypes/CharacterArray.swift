// Text in the fixed arrays of C structs, and text that is never freed.

enum CharacterArray {
  /// Writes `text` and a NUL into an array. A text that is too long is cut between two characters.
  static func write<Array>(_ text: String, to array: inout Array) {
    withUnsafeMutableBytes(of: &array) { memory in
      guard var count = memory.isEmpty ? nil : Optional(memory.count - 1) else { return }
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
      for (offset, byte) in utf8.prefix(count).enumerated() { memory[offset] = byte }
      for offset in count..<memory.count { memory[offset] = 0 }
    }
  }
}

/// Text with a NUL at its end that is never freed: names of constants, which C gets as `const char *`.
struct PermanentText: @unchecked Sendable {
  // Unchecked: the text is written once, before any other thread sees it.
  let pointer: UnsafePointer<CChar>

  init(_ text: String) {
    let bytes = text.utf8
    let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
    for (offset, byte) in bytes.enumerated() { memory[offset] = CChar(bitPattern: byte) }
    memory[bytes.count] = 0
    pointer = UnsafePointer(memory)
  }
}

/// The names of consecutive numbers, beginning with the name of `first`.
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
