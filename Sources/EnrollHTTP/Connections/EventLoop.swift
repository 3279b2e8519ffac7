// One thread with an event base of libevent: the sockets of its connections, a mailbox for what other threads want done here, and one
// tick that looks at the time of all connections. Each base is touched by its own thread alone, so libevent needs no locks.

import CEvent
import CPosix
import EnrollCore
import EnrollPosix

/// Runs events from ``start()`` to ``end()``. All but ``post(_:)``, ``run(_:)``, ``start()`` and ``end()`` belongs to its thread.
final class EventLoop: @unchecked Sendable {
  // Unchecked: the mailbox is only touched with `exclusion` held, all else only by the loop's thread once that runs.
  let base: OpaquePointer
  let shared: ServerContext
  let roster = ConnectionRoster()
  /// For what a read brings; the bytes are gone with the next read of any connection.
  let input: UnsafeMutableRawBufferPointer
  /// Writes the heads of answers, again and again in the same memory.
  var writer: AnswerWriter

  private let mailbox: EventDescriptor
  private let exclusion = Mutex()
  private var posted: [@Sendable () -> Void] = []
  private var isEnded = false
  private var isStarted = false
  private let hasLeft = Event()
  private var wake: OpaquePointer?
  private var tick: OpaquePointer?
  private(set) var isTicking = false
  /// When the time was looked at.
  private var lastLook: Int64 = 0
  /// The listeners that the loop has; they hand round what they accept.
  private var listeners: [Listener] = []

  /// - Throws: ``ServerError`` when the system gives no descriptor or no memory.
  init(_ shared: ServerContext) throws(ServerError) {
    guard let mailbox = try? EventDescriptor(), Self.hasRoom(besides: mailbox.descriptor),
      let configuration = event_config_new()
    else { throw ServerError.noRoom }
    defer { event_config_free(configuration) }
    event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
    guard let base = event_base_new_with_config(configuration) else { throw ServerError.noRoom }
    self.base = base
    self.mailbox = mailbox
    self.shared = shared
    input = .allocate(byteCount: 64 << 10, alignment: 16)
    writer = AnswerWriter(shared.settings)
  }

  /// A base takes three descriptors, and libevent ends the process where it gets none for its signals.
  private static func hasRoom(besides descriptor: Int32) -> Bool {
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

  /// Listens on this loop. Before ``start()``.
  func add(_ listener: Listener) { listeners.append(listener) }

  /// - Throws: ``ServerError`` when the system gives no thread or no memory.
  func start() throws(ServerError) {
    let this = Unmanaged.passUnretained(self).toOpaque()
    wake = event_new(
      base, mailbox.descriptor, Int16(EV_READ | EV_PERSIST),
      { _, _, this in
        guard let this else { return }
        Unmanaged<EventLoop>.fromOpaque(this).takeUnretainedValue().runPosted()
      }, this)
    tick = event_new(
      base, -1, Int16(EV_PERSIST),
      { _, _, this in
        guard let this else { return }
        Unmanaged<EventLoop>.fromOpaque(this).takeUnretainedValue().look()
      }, this)
    guard let wake, tick != nil, event_add(wake, nil) == 0 else { throw ServerError.noRoom }
    isStarted = PlainThread.start { [self] in
      // An exit of the process does not wait for a loop.
      ExitBarrier.outside { _ = event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY) }
      runPosted()
      hasLeft.set()
    }
    guard isStarted else { throw ServerError.noRoom }
  }

  /// Ends the thread, if there is one, and returns when it has left. What is posted later is dropped.
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

  /// Has something done on the loop, soon. Any thread may call it, at any time.
  func post(_ body: @escaping @Sendable () -> Void) {
    let isFirst = exclusion.locked {
      guard !isEnded else { return false }
      posted.append(body)
      return posted.count == 1
    }
    if isFirst { mailbox.wake() }
  }

  /// Has something done on the loop, and returns when it is. Not to be called on the loop.
  func run(_ body: @escaping @Sendable () -> Void) {
    let isDone = Event()
    post {
      body()
      isDone.set()
    }
    isDone.wait()
  }

  private func runPosted() {
    mailbox.drain()
    let bodies = exclusion.locked {
      let bodies = posted
      posted = []
      return bodies
    }
    for body in bodies { body() }
  }

  /// Accepts no more.
  func stopListening() { listeners = [] }

  private func look() {
    let now = SystemClock.monotonic()
    // A process that was stopped (SIGSTOP, a frozen container) has read nothing meanwhile: that time counts against nobody.
    let stopped = max(0, now - lastLook - 2 * shared.tickMilliseconds * 1_000_000)
    lastLook = now
    roster.forEach { $0.tick(now, stopped: stopped) }
    for listener in listeners { listener.resume() }
    setTicking()
  }

  /// To be called when a connection comes or goes, and when a listener pauses: without any of them nothing wakes the loop.
  func setTicking() {
    let isNeeded = roster.count > 0 || listeners.contains { $0.isPaused }
    guard isNeeded != isTicking else { return }
    isTicking = isNeeded
    if isNeeded {
      lastLook = SystemClock.monotonic()
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
