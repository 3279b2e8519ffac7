// Folders that vanish after the test, and processes that use a store.

@testable import EnrollStore
import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollPosix
import EnrollTesting
import Foundation
import Testing

/// A folder of its own for one test.
final class TestFolder: Sendable {
  let path: String
  var store: String { path + "/store" }

  /// - Parameter onDisk: on a real disk, where syncing takes its time; otherwise in memory where the machine has that.
  init(onDisk: Bool = false) {
    let memory = "/dev/shm"
    let isUsable = !onDisk && access(memory, W_OK) == 0
    path = (isUsable ? memory : NSTemporaryDirectory()) + "/enroll-" + UUID().uuidString
    _ = mkdir(path, 0o711)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func open(
    clock: any EnrollCore.Clock = FakeClock(), system: any FileSystem = PosixFileSystem(),
    keys: KeyPlan = .file,
    allowsNetworkFilesystem: Bool = false
  ) throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(
      path: store, keys: keys, clock: clock, allowsNetworkFilesystem: allowsNetworkFilesystem, system: system)
  }

  /// A store with a record of the default account, of a small profile.
  @discardableResult
  func filled(clock: any EnrollCore.Clock = FakeClock()) throws(EnrollError) -> FileTokenStore {
    let store = try open(clock: clock)
    try store.update(.default) { $0.registrationType = "SOCIAL" }
    return store
  }

  func names(_ suffix: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: store).filter { $0.hasSuffix(suffix) }.sorted()
  }

  /// The path of the only file with that suffix.
  func only(_ suffix: String) throws -> String {
    let names = try names(suffix)
    try #require(names.count == 1, "\(names)")
    return store + "/" + names[0]
  }

  func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

  /// In place: the file stays the same file.
  func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
  }
}

/// Whether there is time for everything that could be tried (`make torture`).
let isTorture = ProcessInfo.processInfo.environment["TORTURE"] == "1"

/// Runs `body` in so many threads at once and waits for all.
func together(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let pool = WorkerPool(threads: count)
  for index in 0..<count { #expect(pool.submit { body(index) }) }
  pool.drain()
}

/// Runs `body` on a thread of its own: what takes long must not hold one of the few threads that all tests share.
func aside(_ body: @escaping @Sendable () throws -> Void) async throws {
  let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
    let thread = Thread { continuation.resume(returning: Result { try body() }) }
    thread.stackSize = 1 << 20
    thread.start()
  }
  try result.get()
}

/// The code of what `body` throws.
func code(_ body: () throws(EnrollError) -> Void) -> EnrollError.Code? {
  do { try body() } catch { return error.code }
  return nil
}

/// A running `store-probe`. Started and awaited by the system's own means: Foundation takes a process for alive as long as
/// a child of its child is.
final class Probe {
  private var input: Int32
  private let output: Int32
  private var buffer: [UInt8] = []
  private var status: Int32?
  let pid: pid_t

  /// Beside the test program, where the package manager puts both.
  private static let executable: String = {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent("store-probe")
      .path
  }()

  /// - Parameter wrapper: the words of a program that runs the probe, with its path.
  init(_ arguments: [String], within wrapper: [String] = []) throws {
    var input: [Int32] = [-1, -1]
    var output: [Int32] = [-1, -1]
    // Sockets, because they can be made close-on-exec in one step: another test may start a process this moment.
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

  convenience init(_ arguments: String...) throws { try self.init(arguments) }

  /// All lines of a process that runs by itself.
  static func run(_ arguments: String...) throws -> [String] {
    let probe = try Probe(arguments)
    probe.go()
    return probe.rest()
  }

  /// Starts what waits for a start.
  func go() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// The next line; nil at the end.
  func line() -> String? {
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

  func rest() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    wait()
    return lines
  }

  /// With SIGKILL, and gone when this returns.
  func kill() {
    Foundation.kill(pid, SIGKILL)
    wait()
  }

  private func wait() {
    guard status == nil else { return }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    self.status = status
  }

  /// By SIGKILL.
  var wasKilled: Bool {
    wait()
    return (status ?? 0) & 0x7F == SIGKILL
  }
}
