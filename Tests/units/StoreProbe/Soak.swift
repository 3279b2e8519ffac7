// Weeks of renewals in minutes, by a fake clock: several accounts in one store on disk; a provider whose answers fail
// now and then; and a device that sleeps, restarts, and gets another date. The test prints the costs and the losses.

@testable import EnrollPosix
@testable import EnrollStore
import CPosix
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollTesting

/// The device's clock: the real time, plus the changes that users made.
final class DeviceClock: Clock, Sendable {
  let world = FakeClock()
  private let skew = Guarded<Int64>(0, by: Mutex())

  func wallTime() -> UnixTime { world.wallTime() + skew.withLock { $0 } }
  func instant() -> Instant { world.instant() }
  func bootID() -> String { world.bootID() }
  func sleep(until instant: Instant) { world.sleep(until: instant) }

  func set(skew seconds: Int64) { skew.withLock { $0 = seconds } }
}

/// The connection to the provider; if faults are on, one request in a hundred fails.
final class FlakyTransport: Transport, Sendable {
  private struct State {
    var isFlaky = false
    /// SplitMix64, with the same sequence in every run.
    var seed: UInt64 = 20_260_101
    var requests = 0
    var faults = 0
  }

  private let provider: FakeProvider
  private let state = Guarded(State(), by: Mutex())

  init(_ provider: FakeProvider) { self.provider = provider }

  var requests: Int { state.withLock { $0.requests } }
  var faults: Int { state.withLock { $0.faults } }
  func set(flaky: Bool) { state.withLock { $0.isFlaky = flaky } }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    let kind = state.withLock { state -> UInt64? in
      state.requests += 1
      state.seed &+= 0x9E37_79B9_7F4A_7C15
      var number = state.seed
      number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
      number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
      number ^= number >> 31
      guard state.isFlaky, number % 100 == 0 else { return nil }
      state.faults += 1
      return number / 100 % 8
    }
    switch kind {
    case nil: return try provider.send(request, cancellation: cancellation)
    case 0: throw EnrollError(.network, "unreachable")
    case 1: throw EnrollError(.timeout, "no answer in time")
    case 2: return HTTPResponse(status: 503)
    case 3: return HTTPResponse(status: 429, headers: [HTTPHeader("Retry-After", "30")])
    case 4: return HTTPResponse(status: 200, body: Array("<html>".utf8))
    case 5: return HTTPResponse(status: 302, headers: [HTTPHeader("Location", "https://portal.example/")])
    case 6:
      let answer = try provider.send(request, cancellation: cancellation)
      return HTTPResponse(
        status: answer.status, headers: answer.headers, body: Array(answer.body.dropLast(9)))
    default:
      _ = try provider.send(request, cancellation: cancellation)
      throw EnrollError(.network, "the answer was lost")
    }
  }
}

/// The whole test.
struct Soak {
  private static let accounts = 10
  private static let lifetime: Int64 = 300
  private static let step: Int64 = 60
  /// How many seconds the provider still accepts a rotated refresh token. The time is longer than one step: if both
  /// tries of a renewal lose their answers, the next renewal is one step later.
  private static let grace: Int64 = 120

  private let clock = DeviceClock()
  private let provider: FakeProvider
  private let transport: FlakyTransport
  private let path: String
  private var clients: [Client] = []
  private var asks = 0
  private var answers: [String: Int] = [:]
  private var jumps = 0
  /// The problems, in words.
  private var failures: [String] = []

  init(path: String) throws(EnrollError) {
    Usage.steady()
    self.path = path
    do {
      provider = try FakeProvider(clock: clock.world)
    } catch {
      throw EnrollError(.internal, "no provider")
    }
    transport = FlakyTransport(provider)
    provider.change {
      $0.lifetime = .integer(Self.lifetime)
      $0.graceSeconds = Self.grace
    }
    clients = try open()
    for (number, client) in clients.enumerated() {
      provider.change { $0.subject = Self.user(number) }
      let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
      guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
      _ = try client.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
    }
  }

  private static func user(_ number: Int) -> String { "user-\(number)" }

  /// Opens the store as a starting process does.
  private func open() throws(EnrollError) -> [Client] {
    let store = try FileTokenStore(path: path, clock: clock)
    var clients: [Client] = []
    for number in 0..<Self.accounts {
      var options = ClientOptions(
        configuration: try Configuration(
          issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
        ) {
          $0.requiresConfirmation = false
        }, store: .custom(store))
      options.account = try AccountName(Self.user(number))
      options.transport = transport
      options.clock = clock
      clients.append(try Client(options))
    }
    return clients
  }

  /// Runs the test for this many days of the fake clock.
  /// - Returns: one line of figures, and one line for each problem.
  mutating func run(days: Double) throws(EnrollError) -> [String] {
    let steps = Int(days * 86_400) / Int(Self.step)
    let between = max(steps / (Jump.allCases.count + 1), 1)
    var warm: Usage?
    for number in 1...max(steps, 1) {
      transport.set(flaky: true)
      clock.world.advance(seconds: Self.step)
      try ask(whileFlaky: true)
      provider.forgetRequests()
      if number % between == 0, number / between <= Jump.allCases.count {
        try jump(Jump.allCases[number / between - 1])
      }
      // The baseline is taken after the first jump, and not before a tenth of the run has passed.
      if number == max(between, steps / 10) + 1 { warm = Usage() }
    }
    let end = Usage()
    try settle()
    let lost = try lostSessions()
    let drift = warm.map { (end.heap - $0.heap, end.pages - $0.pages) } ?? (0, 0)
    // A background renewal has files open for a moment; a leaked descriptor stays open.
    var opened = warm.map { end.descriptors - $0.descriptors } ?? 0
    for _ in 1...10 where opened > 1 {
      try settle()
      opened = warm.map { Usage().descriptors - $0.descriptors } ?? 0
    }
    let outcomes = answers.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    return [
      "asks=\(asks) \(outcomes) requests=\(transport.requests) faults=\(transport.faults) jumps=\(jumps)"
        + " lost=\(lost) descriptors=\(end.descriptors) opened=\(opened) heap=\(end.heap) heapDrift=\(drift.0)"
        + " pages=\(end.pages) pagesDrift=\(drift.1)"
    ] + failures
  }

  private mutating func ask(whileFlaky: Bool) throws(EnrollError) {
    for (number, client) in clients.enumerated() {
      asks += 1
      let outcome = try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil)
      answers[outcome.word, default: 0] += 1
      let isGood = outcome.word == "valid" || whileFlaky && ["stale", "expired"].contains(outcome.word)
      if !isGood, failures.count < 20 {
        failures.append("\(Self.user(number)): \(outcome.word) after \(jumps) jumps")
      }
    }
  }

  /// Ends all faults, and waits until every token is fresh.
  private mutating func settle() throws(EnrollError) {
    transport.set(flaky: false)
    for _ in 1...5 {
      clock.world.advance(seconds: Self.step)
      for client in clients {
        _ = try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil)
      }
    }
    try ask(whileFlaky: false)
  }

  /// A change of a device's clocks.
  private enum Jump: CaseIterable {
    case hourAhead, hourBack, yearAhead, yearBack, past2038, rightAgain, suspended, restarted,
      restartedInThePast
  }

  /// Makes the jump. Then there must be at most one more renewal for each account, and nobody may be signed out.
  private mutating func jump(_ jump: Jump) throws(EnrollError) {
    try settle()
    jumps += 1
    let before = provider.count(.token)
    let hour: Int64 = 3600
    let year = 8766 * hour
    switch jump {
    case .hourAhead: clock.set(skew: hour)
    case .hourBack: clock.set(skew: -hour)
    case .yearAhead: clock.set(skew: year)
    case .yearBack: clock.set(skew: -year)
    case .past2038: clock.set(skew: (1 << 31) + hour - clock.world.wallTime().seconds)
    case .rightAgain: clock.set(skew: 0)
    case .suspended: clock.world.advance(seconds: 8 * hour)
    case .restarted: clock.world.reboot(bootID: "boot-\(jumps)")
    case .restartedInThePast:
      clock.set(skew: -year)
      clock.world.reboot(bootID: "boot-\(jumps)")
    }
    for _ in 1...3 { try ask(whileFlaky: false) }
    let renewals = provider.count(.token) - before
    if renewals > clients.count { failures.append("\(jump): \(renewals) renewals") }
    if jump == .suspended, renewals != clients.count { failures.append("\(jump): \(renewals) renewals") }
  }

  /// The number of sessions that another process does not find in the store.
  private func lostSessions() throws(EnrollError) -> Int {
    var lost = 0
    for (number, client) in try open().enumerated() {
      let outcome = try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil)
      let profile = try client.profile()
      if outcome.word != "valid" || profile["sub"]?.string != Self.user(number) { lost += 1 }
      client.close()
      client.drain()
    }
    return lost
  }
}

extension AccessOutcome {
  fileprivate var word: String {
    switch self {
    case .valid: "valid"
    case .stale: "stale"
    case .expired: "expired"
    case .rejected: "rejected"
    case .reauthenticate: "reauthenticate"
    case .storeLocked: "storeLocked"
    case .busy: "busy"
    }
  }
}

/// The resources of this process.
private struct Usage {
  /// Bytes that the allocator has handed out.
  let heap: Int
  /// The process's own pages, after the allocator has returned as many pages as possible.
  let pages: Int
  let descriptors: Int

  /// Uses one malloc arena for all threads, so that figures do not depend on the thread that allocates.
  static func steady() {
    typealias Option = @convention(c) (Int32, Int32) -> Int32
    let arenas: Int32 = -8
    if let option = dlsym(nil, "mallopt") { _ = unsafeBitCast(option, to: Option.self)(arenas, 1) }
  }

  init() {
    typealias Trim = @convention(c) (Int) -> Int32
    if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
    heap = Usage.heapInUse()
    let lines = Usage.text("/proc/self/smaps_rollup").split(separator: "\n")
    pages =
      lines.first { $0.hasPrefix("Anonymous:") }.flatMap { line in
        line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
      } ?? -1
    let names = (try? PosixFileSystem().openFolder("/proc/self/fd")).map { folder in
      defer { PosixFileSystem().close(folder) }
      return (try? PosixFileSystem().list(folder)) ?? []
    }
    descriptors = names?.count ?? -1
  }

  /// The kilobytes in use, from the totals at the end of the output of malloc_info(3).
  private static func heapInUse() -> Int {
    typealias Info = @convention(c) (Int32, UnsafeMutablePointer<FILE>?) -> Int32
    var bytes: UnsafeMutablePointer<CChar>?
    var count = 0
    guard let info = dlsym(nil, "malloc_info"), let stream = open_memstream(&bytes, &count) else { return -1 }
    _ = unsafeBitCast(info, to: Info.self)(0, stream)
    fclose(stream)
    defer { free(bytes) }
    guard let bytes else { return -1 }
    var sizes: [String: Int] = [:]
    for line in String(cString: bytes).split(separator: "\n") {
      let words = line.split(separator: "\"")
      guard let kind = words.dropFirst().first, let size = words.dropLast().last.flatMap({ Int($0) }) else {
        continue
      }
      sizes[String(kind)] = size
    }
    return ((sizes["current"] ?? 0) - (sizes["fast"] ?? 0) - (sizes["rest"] ?? 0) + (sizes["mmap"] ?? 0))
      / 1024
  }

  private static func text(_ path: String) -> String {
    let file = enroll_posix_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16_384)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
  }
}
