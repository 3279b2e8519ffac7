// Processes that use a store.

package import Foundation
import Testing

/// A running `store-probe`. System calls start the process and wait for it, because Foundation considers a process
/// alive as long as one of its children is alive.
package final class Probe {
  private var input: Int32
  private let output: Int32
  private var buffer: [UInt8] = []
  private var status: Int32?
  package let pid: pid_t

  /// The path of the program: in the folder of the test program, because the package manager puts both there.
  private static let executable: String = {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent("store-probe")
      .path
  }()

  /// Starts a probe.
  /// - Parameter wrapper: the words of a program that runs the probe, before the probe's path.
  package init(_ arguments: [String], within wrapper: [String] = []) throws {
    var input: [Int32] = [-1, -1]
    var output: [Int32] = [-1, -1]
    // A socket can be made close-on-exec in one step. That matters because another test may start a process
    // at the same moment.
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &input) == 0)
    try #require(socketpair(AF_UNIX, type, 0, &output) == 0)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], 0)
    posix_spawn_file_actions_adddup2(&actions, output[1], 1)
    var words: [UnsafeMutablePointer<CChar>?] =
      (wrapper + [Probe.executable] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var pid: pid_t = 0
    let started = posix_spawn(&pid, wrapper.first ?? Probe.executable, &actions, nil, &words, environ)
    close(input[0])
    close(output[1])
    self.pid = pid
    self.input = input[1]
    self.output = output[0]
    try #require(started == 0, "\(Probe.executable)")
  }

  deinit {
    if status == nil { kill() }
    if input >= 0 { close(input) }
    close(output)
  }

  package convenience init(_ arguments: String...) throws { try self.init(arguments) }

  /// All output lines of a process that needs no start signal.
  package static func run(_ arguments: String...) throws -> [String] {
    let probe = try Probe(arguments)
    probe.go()
    return probe.rest()
  }

  /// Gives the start signal to a probe that waits for it.
  package func go() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// The next line of the output; nil at the end.
  package func line() -> String? {
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + 1)
        return line
      }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = read(output, &bytes, bytes.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return nil }
      buffer += bytes[..<count]
    }
  }

  package func rest() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    wait()
    return lines
  }

  /// Kills the process with SIGKILL, and returns when it has ended.
  package func kill() {
    Foundation.kill(pid, SIGKILL)
    wait()
  }

  private func wait() {
    guard status == nil else { return }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    self.status = status
  }
}
