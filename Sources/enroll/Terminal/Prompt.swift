// Questions to the user at the terminal: yes or no, or a secret that is not echoed. Also secrets from a file
// descriptor, for scripts.

import CPosix
import EnrollArguments

enum Prompt {
  /// The limit of a secret, in bytes.
  private static let limit = 1024

  enum Choice { case yes, no, interrupted }

  /// Asks a question that is answered with yes or no.
  /// - Parameter isYes: the meaning of an empty answer.
  static func choice(_ question: String, default isYes: Bool, _ waits: Waits) -> Choice {
    let hint = isYes ? "[Y/n]" : "[y/N]"
    // Input from before the question was shown is dropped.
    tcflush(STDIN_FILENO, TCIFLUSH)
    for _ in 0..<3 {
      Terminal.errors.write(
        Layout.wrapped("\(question) \(hint)", width: Terminal.errors.width.map { $0 - 1 }).joined(
          separator: "\n")
          + " ")
      guard let answer = line(waits) else {
        Terminal.errors.write("\n")
        return waits.isInterrupted ? .interrupted : .no
      }
      switch answer.lowercased().filter({ $0 != " " }) {
      case "": return isYes ? .yes : .no
      case "y", "yes": return .yes
      case "n", "no": return .no
      default: Terminal.errors.say("Please answer y or n.")
      }
    }
    return .no
  }

  /// Asks for a secret, which is not echoed.
  /// - Throws: `.storeLocked` if there is no terminal or nothing was typed, `.usage` for bytes that are not UTF-8,
  ///   `.interrupted`.
  static func secret(_ name: String, _ waits: Waits) throws(Failure) -> String {
    guard let silence = Silence() else {
      throw Failure(.storeLocked, "\(name): there is no terminal to ask at")
    }
    defer { silence.end() }
    guard let text = line(waits, silence, "\(name): "), !text.isEmpty else {
      guard waits.isInterrupted else { throw Failure(.storeLocked, "\(name): nothing was typed") }
      Terminal.errors.write("\n")
      throw Failure(.interrupted, "interrupted")
    }
    // U+FFFD replaces bytes that are not UTF-8. Such bytes are refused, because another terminal would send
    // other bytes for the same letters.
    guard !text.unicodeScalars.contains("\u{FFFD}") else {
      throw Failure(
        .usage, "\(name): expected UTF-8, got bytes that are none",
        advice: "Type it at a terminal whose character set is UTF-8, or use only ASCII letters and digits.")
    }
    return text
  }

  /// The first line from a descriptor.
  /// - Parameter option: the option that named the descriptor.
  static func secret(from descriptor: Int32, option: String) throws(Failure) -> String {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: limit)
    while bytes.count <= limit, !bytes.contains(UInt8(ascii: "\n")) {
      guard Interrupts.wait(for: descriptor) else { throw Failure(.interrupted, "interrupted") }
      let count = piece.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, [EINTR, EAGAIN].contains(enroll_posix_errno()) { continue }
      guard count >= 0 else {
        throw unreadable(descriptor, option: option)
      }
      if count == 0 { break }
      bytes += piece[..<count]
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    guard (1...limit).contains(line.count), let text = String(validating: line, as: UTF8.self) else {
      throw Failure(
        .usage, "\(option) \(descriptor): expected one line of 1 to \(limit) bytes of UTF-8 there")
    }
    return text
  }

  static func unreadable(_ descriptor: Int32, option: String) -> Failure {
    Failure(.usage, "\(option) \(descriptor): the descriptor cannot be read (is it open?)")
  }

  /// Reads a line without echo. After the program was stopped and continued, the question is shown again, and earlier
  /// input is lost.
  /// - Returns: as ``line(_:)``.
  private static func line(_ waits: Waits, _ silence: Silence, _ question: String) -> String? {
    // If the program must end, it does not change the terminal first, because another program may already be using
    // the terminal.
    while !waits.isInterrupted, waits.next(milliseconds: 0) != .interrupt {
      silence.begin()
      Terminal.errors.write(question)
      var reader = LineReader()
      waiting: while !waits.isInterrupted {
        switch waits.next(listens: true, watching: silence.descriptor) {
        case .typed:
          if let line = reader.read() { return line }
          if reader.isAtEnd { return nil }
        case .watched:
          silence.handleSignals()
          break waiting
        case .answer, .interrupt, .tick: break
        }
      }
    }
    return nil
  }

  /// Reads a line; nil at the end of the input, and after an interrupt.
  private static func line(_ waits: Waits) -> String? {
    var reader = LineReader()
    while !waits.isInterrupted {
      guard waits.next(listens: true) == .typed else { continue }
      if let line = reader.read() { return line }
      if reader.isAtEnd { return nil }
    }
    return nil
  }
}

/// Reads lines from stdin without waiting: the terminal delivers whole lines.
struct LineReader {
  private static let limit = 65_536
  private var pending: [UInt8] = []
  private(set) var isAtEnd = false

  /// Reads what stdin has, and returns a line; nil if the line is not complete. Call this when stdin is readable.
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
