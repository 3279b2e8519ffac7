// A program that runs commands on a store. It is for tests that need real processes: to kill them, to fork them, to run
// them as another user, or to run several at once.
//
//   store-probe [--user UID] COMMAND PATH [ARGUMENT…]
//
// Answers are lines on standard output; `go` on standard input starts processes together.

@testable import EnrollPosix
@testable import EnrollStore
import CPosix
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollTesting
import Synchronization

func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(1, bytes, bytes.count)
}

/// Waits for a byte on standard input, or for its end.
func waitForStart() {
  var byte: UInt8 = 0
  _ = read(0, &byte, 1)
}

/// The command line.
struct Orders {
  private var rest = Array(CommandLine.arguments.dropFirst())
  let command: String
  let path: String

  init() {
    if rest.first == "--user", let user = UInt32(rest.dropFirst().first ?? "") {
      rest.removeFirst(2)
      guard setgroups(0, nil) == 0, setgid(user) == 0, setuid(user) == 0 else {
        say("cannot become \(user)")
        exit(2)
      }
    }
    guard rest.count >= 2 else {
      say("what, and where?")
      exit(2)
    }
    command = rest.removeFirst()
    path = rest.removeFirst()
  }

  mutating func next() -> String { rest.isEmpty ? "" : rest.removeFirst() }

  func openFolder() throws(FileFault) -> Int32 { try PosixFileSystem().openFolder(path) }

  func openStore() throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(path: path, clock: SystemClock())
  }
}

final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .relaxed) }
  @discardableResult
  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// Runs `body` in this many threads at once, and waits until all of them have ended.
func together(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let pool = WorkerPool(threads: count)
  for index in 0..<count where !pool.submit({ body(index) }) { say("no thread") }
  pool.drain()
}

func code(_ body: () throws(EnrollError) -> Void) -> String {
  do {
    try body()
    return "ok"
  } catch {
    return error.code.name
  }
}

func resultName(_ result: RenewalLockResult) -> String {
  switch result {
  case .acquired: "acquired"
  case .superseded: "superseded"
  case .deadlinePassed: "deadlinePassed"
  }
}

func appendByte(_ path: String) {
  let fd = enroll_posix_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
  var byte: UInt8 = 0x2E
  write(fd, &byte, 1)
  close(fd)
}

func run(_ orders: inout Orders) throws(EnrollError) {
  switch orders.command {
  case "changes":
    // Prints the changes that can be interrupted, one on each line; `dear` marks the slow changes.
    for change in StoreChange.all { say(change.name + (change.isDear ? " dear" : "")) }
  case "kill-points":
    // Runs one change, and interrupts it at its system calls: in a separate run at each `every`-th call. PATH is a
    // folder for all files of the test.
    let change = try StoreChange.named(orders.next())
    try KillPoints(of: change, in: orders.path).run(every: Int(orders.next()) ?? 1)
  case "disk-faults":
    // Runs one change, and makes its system calls fail: in a separate run each `every`-th call.
    let change = try StoreChange.named(orders.next())
    try DiskFaults(of: change, in: orders.path).run(every: Int(orders.next()) ?? 1)
  case "hidden-names":
    // Makes the listing of the store's folder fail, in a separate run at each name. PATH is a folder for all files of
    // the test.
    try HiddenNames(path: orders.path).run()
  case "strays":
    // Makes this many saves, in a host that writes to its standard descriptors although they are closed.
    let saves = Int(orders.next()) ?? 1
    try Strays(orders: orders).run(saves: saves)
  case "sizes":
    // Prints what calls cost, for stores with each of these numbers of accounts.
    let path = orders.path
    var counts: [Int] = []
    while let count = Int(orders.next()) { counts.append(count) }
    try StoreSizes(path: path).run(counts)
  case "no-descriptors":
    try saveWithoutDescriptors(orders)
  case "sign-in":
    // Saves tokens with a lifetime of this many seconds.
    let lifetime = Int64(orders.next()) ?? 1
    let store = try orders.openStore()
    try store.update(.default) {
      $0.confirmed = StoreChange.tokens("first", lifetimeSeconds: lifetime)
      $0.tokenEpoch += 1
    }
    fallthrough
  case "band":
    let tokens = try orders.openStore().read(.default)?.confirmed
    say(tokens?.expiry.band(at: SystemClock().moment(), graceSeconds: 60).rawValue ?? "none")
  case "read":
    let record = try orders.openStore().read(.default)
    say(record.map { "epoch \($0.tokenEpoch)" } ?? "none")
  case "update":
    // Saves a registration type of this many bytes.
    let size = Int(orders.next()) ?? 1
    let store = try orders.openStore()
    try store.update(.default) {
      $0.tokenEpoch += 1
      $0.registrationType = String(repeating: "x", count: size)
    }
    say("updated")
  case "increment":
    let count = Int(orders.next()) ?? 0
    let threads = Int(orders.next()) ?? 1
    let store = try orders.openStore()
    waitForStart()
    together(threads) { _ in
      for _ in 0..<count {
        let code = code { () throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } }
        if code != "ok" { say(code) }
      }
    }
    say("done")
  case "renew":
    // All threads try to renew the epoch that they find. Each renewal that really runs appends a byte to a file.
    let threads = Int(orders.next()) ?? 1
    let wire = orders.next()
    let store = try orders.openStore()
    let epoch = try store.read(.default)?.tokenEpoch ?? 0
    say("ready")
    waitForStart()
    let counts = Guarded<[String: Int]>([:], by: Mutex())
    together(threads) { _ in
      let deadline = SystemClock().instant().advanced(bySeconds: 60)
      var name = ""
      let code = code { () throws(EnrollError) in
        let result = try store.withRenewalLock(.default, epoch: epoch, deadline: deadline) {
          () throws(EnrollError) in
          appendByte(wire)
          try store.update(.default) { $0.tokenEpoch += 1 }
        }
        name = resultName(result)
      }
      counts.withLock { $0[code == "ok" ? name : code, default: 0] += 1 }
    }
    let all = counts.withLock { $0 }
    say(all.keys.sorted().map { "\($0)=\(all[$0] ?? 0)" }.joined(separator: " "))
  case "hold":
    // Takes the lock and keeps it. With `fork`, a child stays alive after this process was killed.
    let forks = orders.next() == "fork"
    let store = try orders.openStore()
    let epoch = try store.read(.default)?.tokenEpoch ?? 0
    let deadline = SystemClock().instant().advanced(bySeconds: 60)
    _ = try store.withRenewalLock(.default, epoch: epoch, deadline: deadline) { () throws(EnrollError) in
      if forks {
        let child = fork()
        if child == 0 { while true { pause() } }
        say("holding \(child)")
      } else {
        say("holding")
      }
      while true { pause() }
    }
  case "lock":
    // Takes the renewal lock once, and waits for it for at most this many seconds.
    let store = try orders.openStore()
    let epoch = try store.read(.default)?.tokenEpoch ?? 0
    say("ready")
    let deadline = SystemClock().instant().advanced(bySeconds: Int64(orders.next()) ?? 0)
    say(
      resultName(
        try store.withRenewalLock(.default, epoch: epoch, deadline: deadline) { () throws(EnrollError) in }))
  case "soak":
    // Runs this many days of renewals, by a fake clock.
    var soak = try Soak(path: orders.path)
    for line in try soak.run(days: Double(orders.next()) ?? 1) { say(line) }
  case "fork":
    try childOfFork(orders)
  case "churn":
    try churn(orders, forks: Int(orders.next()) ?? 0)
  default:
    say("unknown command \(orders.command)")
  }
}

/// Plays a renewal in which the process runs out of descriptors after the request and before the tokens are saved.
func saveWithoutDescriptors(_ orders: Orders) throws(EnrollError) {
  let store = try orders.openStore()
  let epoch = try store.update(.default) { $0.confirmed = StoreChange.tokens("first") }.tokenEpoch
  let deadline = SystemClock().instant().advanced(bySeconds: 10)
  _ = try store.withRenewalLock(.default, epoch: epoch, deadline: deadline) { () throws(EnrollError) in
    try store.reserveSpace(.default)
    try store.update(.default) { $0.asksForLogin = true }
    var taken: [Int32] = []
    while case let descriptor = enroll_posix_open("/dev/null", O_RDONLY | O_CLOEXEC, 0), descriptor >= 0 {
      taken.append(descriptor)
    }
    say(
      code { () throws(EnrollError) in
        try store.update(.default) {
          $0.confirmed = StoreChange.tokens("second")
          $0.tokenEpoch &+= 1
        }
      })
    for descriptor in taken { close(descriptor) }
  }
  say(try orders.openStore().read(.default)?.confirmed?.refreshToken?.reveal() ?? "none")
}

/// In a forked child: prints the error of every object that was made before the fork, and runs the calls that must work
/// with a new store.
func childOfFork(_ orders: Orders) throws(EnrollError) {
  let store = try orders.openStore()
  let memory = MemoryTokenStore(clock: SystemClock())
  let pool = WorkerPool()
  let timers = TimerQueue(clock: SystemClock())
  let coordinator = RenewalCoordinator<Int>(pool: pool, timers: timers, clock: SystemClock()) { _ in 1 }
  try store.update(.default) { $0.asksForLogin = true }
  _ = coordinator.join(deadline: .distantFuture)
  // In the parent, another thread is using the store while the fork happens.
  let inside = Event()
  let over = Event()
  _ = pool.submit {
    _ = code { () throws(EnrollError) in
      try store.update(.default) { (record) throws(EnrollError) in
        inside.set()
        over.wait()
      }
    }
  }
  inside.wait()
  let child = fork()
  if child == 0 {
    let far = Instant.distantFuture
    for each: any TokenStore in [store, memory] {
      say("read " + code { () throws(EnrollError) in _ = try each.read(.default) })
      say("update " + code { () throws(EnrollError) in _ = try each.update(.default) { $0.tokenEpoch += 1 } })
      say(
        "lock "
          + code { () throws(EnrollError) in
            _ = try each.withRenewalLock(.default, epoch: 0, deadline: far, cancellation: nil) {
              () throws(EnrollError) in
            }
          })
      say("reserve " + code { () throws(EnrollError) in try each.reserveSpace(.default) })
      say("accounts " + code { () throws(EnrollError) in _ = try each.accounts() })
      say("remove " + code { () throws(EnrollError) in try each.remove(.default) })
      say("installation " + code { () throws(EnrollError) in _ = try each.installationID() })
      say("reset " + code { () throws(EnrollError) in try each.resetInstallationID() })
      say("outbox " + code { () throws(EnrollError) in _ = try each.updateOutbox { $0 = [] } })
    }
    say("submit " + (pool.submit {} ? "ok" : "forked"))
    if case .refused(let error) = coordinator.join(deadline: far) { say("join " + error.code.name) }
    say("own " + code { () throws(EnrollError) in _ = try orders.openStore().read(.default) })
    // The parent's threads do not exist in the child, so their memory would count as leaked. `_exit` skips
    // the leak check.
    _exit(0)
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  over.set()
  pool.drain()
  say("parent " + code { () throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } })
}

/// Forks while threads take and release the lock; prints how many children have the lock file open.
func churn(_ orders: Orders, forks: Int) throws(EnrollError) {
  let store = try orders.openStore()
  try store.update(.default) { $0.asksForLogin = true }
  let over = Atomic<Bool>(false)
  let pool = WorkerPool(threads: 2)
  for _ in 0..<2 {
    _ = pool.submit {
      while !over.load(ordering: .relaxed) {
        _ = code { () throws(EnrollError) in _ = try store.update(.default) { _ in } }
      }
    }
  }
  var locks: [UInt64] = []
  for name in (try? PosixFileSystem().list(orders.openFolder())) ?? []
  where name.utf8.suffix(6).elementsEqual(".write".utf8) {
    if let status = try? PosixFileSystem().status(name, in: orders.openFolder()) {
      locks.append(status.inode)
    }
  }
  // `isOpen` is called once before the first fork, so that the runtime initializes what the call needs. In a child the
  // initialization might fail, because a thread that does not exist there may hold a lock of the runtime.
  _ = isOpen(anyOf: locks)
  var leaks = 0
  for _ in 0..<forks {
    let child = fork()
    if child == 0 { _exit(isOpen(anyOf: locks) ? 1 : 0) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    if status != 0 { leaks += 1 }
  }
  over.store(true, ordering: .relaxed)
  pool.drain()
  say("locks \(locks.count) leaks \(leaks)")
}

private func isOpen(anyOf inodes: [UInt64]) -> Bool {
  for descriptor: Int32 in 3..<64 {
    var status = stat()
    if fstat(descriptor, &status) == 0, inodes.contains(UInt64(status.st_ino)) { return true }
  }
  return false
}

@main
struct StoreProbe {
  static func main() {
    var orders = Orders()
    do {
      try run(&orders)
    } catch {
      say(error.code.name)
      exit(1)
    }
  }
}
