// The user's own headers for each request. They come from files and environment variables, because every user of the
// machine can read a command line.

import CPosix
import EnrollArguments
import EnrollMCP
import EnrollRules

enum BridgeHeaders {
  /// The largest size of a file of headers, in bytes. No request can have more bytes of headers.
  private static let longestFile = 64 << 10

  static func fromEnvironment(_ words: [String]) throws(UsageError) -> [HTTPHeader] {
    var headers: [HTTPHeader] = []
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1).map { String($0) }
      guard parts.count == 2 else {
        throw UsageError("--header-env: expected NAME=VARIABLE, such as X-Api-Key=NOTES_KEY.")
      }
      guard let value = Environment.process[parts[1]] else {
        throw UsageError("--header-env: the environment has no variable \(Shown.text(parts[1])).")
      }
      guard let header = header(parts[0], value) else { throw UsageError(refusal(parts[0])) }
      headers.append(header)
    }
    return headers
  }

  static func read(_ path: String) throws(Failure) -> [HTTPHeader] {
    let descriptor = enroll_posix_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw Failure(.usage, "the file of --header-file cannot be opened") }
    defer { close(descriptor) }
    guard let text = String(validating: try bytes(of: descriptor), as: UTF8.self) else {
      throw Failure(.usage, "the file of --header-file cannot be read as text")
    }
    var headers: [HTTPHeader] = []
    // The lines may have secrets, so error messages show only the numbers of the lines.
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: { $0.isNewline })
      .enumerated() where !line.isEmpty
    {
      guard let colon = line.firstIndex(of: ":") else {
        throw Failure(
          .usage, "line \(index + 1) of the file of --header-file has no colon",
          advice: "Write a line Name: value for each header.")
      }
      guard let header = header(String(line[..<colon]), String(line[colon...].dropFirst())) else {
        throw Failure(
          .usage,
          "the header in line \(index + 1) of the file of --header-file cannot be set: it is the bridge's own, its name is not one of a header, or it has control characters"
        )
      }
      headers.append(header)
    }
    return headers
  }

  /// Reads the whole file. If it is a pipe, the content arrives in pieces.
  private static func bytes(of descriptor: Int32) throws(Failure) -> [UInt8] {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = piece.withUnsafeMutableBytes { CPosix.read(descriptor, $0.baseAddress, $0.count) }
      guard count != 0 else { return all }
      guard count > 0 else {
        if enroll_posix_errno() == EINTR { continue }
        throw Failure(.usage, "the file of --header-file cannot be read")
      }
      all += piece[..<count]
      guard all.count <= longestFile else {
        throw Failure(.usage, "the file of --header-file has more than \(longestFile >> 10) KiB")
      }
    }
  }

  /// Makes a header; nil for a header that the bridge sets itself, and for a value with control characters.
  private static func header(_ name: String, _ value: String) -> HTTPHeader? {
    var bytes = Array(value.utf8)[...]
    while bytes.first == 0x20 || bytes.first == 0x09 { bytes = bytes.dropFirst() }
    guard MessageHeaders.isUsersOwn(name), bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    return HTTPHeader(name, String(decoding: bytes, as: UTF8.self))
  }

  private static func refusal(_ name: String) -> String {
    "the header \(Shown.text(name)) cannot be set: it is the bridge's own, or has control characters."
  }
}
