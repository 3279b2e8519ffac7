// Lines from stdin, read without waiting: the terminal keeps them until they end.

import CPosix

struct LineReader {
  private static let limit = 65_536
  private var pending: [UInt8] = []
  private(set) var isAtEnd = false

  /// To be called when stdin has something. nil while the line goes on.
  mutating func read() -> String? {
    var piece = [UInt8](repeating: 0, count: 4096)
    let count = piece.withUnsafeMutableBytes { CPosix.read(STDIN_FILENO, $0.baseAddress, $0.count) }
    guard count > 0 else {
      isAtEnd = count == 0
      return nil
    }
    pending += piece[..<count]
    if pending.count > Self.limit { pending.removeAll() }
    guard let end = pending.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let line = String(decoding: pending[..<end], as: UTF8.self)
    pending.removeSubrange(...end)
    return line
  }
}
