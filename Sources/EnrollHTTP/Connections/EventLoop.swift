// One thread with an event base of libevent: the sockets of its connections, a queue of work that other threads post, and one
// tick that checks the deadlines of all connections. Only its own thread touches a base, so libevent needs no locks.

import CEvent
import CPosix
import EnrollSteps
import EnrollPosix

/// Runs events from ``start()`` to ``end()``. Other threads may call only ``post(_:)``, ``run(_:)``, ``start()`` and ``end()``.
final class EventLoop: @unchecked Sendable {
  // Unchecked: the queue is touched only with `exclusion` locked. Once the loop's thread runs, only that thread touches
  // everything else.
  let base: OpaquePointer
  let shared: ServerContext
  let roster = ConnectionRoster()
  /// The buffer for the reads of all connections. Each read overwrites it.
  let input: UnsafeMutableRawBufferPointer
  /// Writes the heads of answers into memory that it reuses.
  var writer: AnswerWriter

  private let wakeDescriptor: EventDescriptor
  private let exclusion = Mutex()
  private var posted: [@Sendable () -> Void] = []
  private var isEnded = false
  private var isStarted = false
  private let hasLeft = Event()
  private var wake: OpaquePointer?
  private var tick: OpaquePointer?
  private(set) var isTicking = false
  /// The time of the last tick.
  private var lastTick: Int64 = 0
  /// The listening sockets of this loop; they distribute accepted connections over all loops.
  private var listeners: [Listener] = []

  /// - Throws: ``ServerError`` if the system gives no descriptor or no memory.
  init(_ shared: ServerContext) throws(ServerError) {
    guard let wakeDescriptor = try? EventDescriptor(),
      Self.hasFreeDescriptors(besides: wakeDescriptor.descriptor),
      let configuration = event_config_new()
    else { throw ServerError.outOfResources }
    defer { event_config_free(configuration) }
    event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
    guard let base = event_base_new_with_config(configuration) else { throw ServerError.outOfResources }
    self.base = base
    self.wakeDescriptor = wakeDescriptor
    self.shared = shared
    input = .allocate(byteCount: 64 << 10, alignment: 16)
    writer = AnswerWriter(shared.settings)
  }

  /// Whether three descriptors are free: an event base needs three, and libevent ends the process if it gets no
  /// descriptor for its signals.
  private static func hasFreeDescriptors(besides descriptor: Int32) -> Bool {
    let tried = (0..<3).map { _ in dup(descriptor) }
    for one in tried where one >= 0 { close(one) }
    return tried.allSatisfy { $0 >= 0 }
  }

  deinit {
    listeners = []
    for event in [wake, tick] where event != nil { event_free(event) }
    event_base_free(base)
    input.deallocate()
  }

  /// Adds a socket that listens on this loop. Call it before ``start()``.
  func add(_ listener: Listener) { listeners.append(listener) }

  /// - Throws: ``ServerError`` if the system gives no thread or no memory.
  func start() throws(ServerError) {
    let this = Unmanaged.passUnretained(self).toOpaque()
    wake = event_new(
      base, wakeDescriptor.descriptor, Int16(EV_READ | EV_PERSIST),
      { _, _, this in
        guard let this else { return }
        Unmanaged<EventLoop>.fromOpaque(this).takeUnretainedValue().runPosted()
      }, this)
    tick = event_new(
      base, -1, Int16(EV_PERSIST),
      { _, _, this in
        guard let this else { return }
        Unmanaged<EventLoop>.fromOpaque(this).takeUnretainedValue().checkDeadlines()
      }, this)
    guard let wake, tick != nil, event_add(wake, nil) == 0 else { throw ServerError.outOfResources }
    isStarted = BackgroundThread.start { [self] in
      // `ExitBarrier` lets the process exit without waiting for this thread.
      ExitBarrier.allowingExit { _ = event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY) }
      runPosted()
      hasLeft.set()
    }
    guard isStarted else { throw ServerError.outOfResources }
  }

  /// Stops the thread, if it runs, and returns when it has ended. Later posts are dropped.
  func end() {
    if isStarted {
      run { [self] in
        stopListening()
        event_base_loopbreak(base)
      }
      hasLeft.wait()
    }
    exclusion.locked { isEnded = true }
    stopListening()
  }

  /// Queues `body` to run on the loop. Any thread may call this at any time.
  func post(_ body: @escaping @Sendable () -> Void) {
    let isFirst = exclusion.locked {
      guard !isEnded else { return false }
      posted.append(body)
      return posted.count == 1
    }
    if isFirst { wakeDescriptor.wake() }
  }

  /// Runs `body` on the loop and returns when it is done. Must not be called on the loop.
  func run(_ body: @escaping @Sendable () -> Void) {
    let isDone = Event()
    post {
      body()
      isDone.set()
    }
    isDone.wait()
  }

  private func runPosted() {
    wakeDescriptor.drain()
    let bodies = exclusion.locked {
      let bodies = posted
      posted = []
      return bodies
    }
    for body in bodies { body() }
  }

  /// Stops accepting connections.
  func stopListening() { listeners = [] }

  private func checkDeadlines() {
    let now = SystemClock.monotonic()
    // A process that was suspended (SIGSTOP, a frozen container) has not read during that time, so the time does not
    // count against clients.
    let stopped = max(0, now - lastTick - 2 * shared.tickMilliseconds * 1_000_000)
    lastTick = now
    roster.forEach { $0.tick(now, stopped: stopped) }
    for listener in listeners { listener.resume() }
    setTicking()
  }

  /// Starts or stops the tick. Call it when a connection opens or closes, and when a listener pauses. Without
  /// connections and paused listeners the loop needs no tick.
  func setTicking() {
    let isNeeded = roster.count > 0 || listeners.contains { $0.isPaused }
    guard isNeeded != isTicking else { return }
    isTicking = isNeeded
    if isNeeded {
      lastTick = SystemClock.monotonic()
      var period = timeval(milliseconds: shared.tickMilliseconds)
      event_add(tick, &period)
    } else {
      event_del(tick)
    }
  }
}

extension timeval {
  init(milliseconds: Int64) {
    self.init()
    tv_sec = time_t(milliseconds / 1_000)
    tv_usec = suseconds_t(milliseconds % 1_000 * 1_000)
  }
}
