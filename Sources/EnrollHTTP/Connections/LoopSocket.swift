// A connected socket of an event loop: reads when there is something, sends what the kernel takes, and keeps the rest until it takes
// more. What comes is handed to the class that is made of it.

import CEvent
import CPosix

/// A socket, confined to its loop's thread from ``open()`` to ``close()``.
class LoopSocket: @unchecked Sendable {
  // Unchecked: all but `loop` is only touched on the loop.
  final let loop: EventLoop

  private final let descriptor: Int32
  private final var readable: OpaquePointer?
  private final var writable: OpaquePointer?
  private final var timer: OpaquePointer?
  private final var output = OutputBuffer()
  private final var isPaused = false
  private final var isClosed = false

  /// - Parameter descriptor: belongs to the socket from now on.
  init(_ descriptor: Int32, _ loop: EventLoop) {
    self.descriptor = descriptor
    self.loop = loop
  }

  // For subclasses. A call may close the socket.

  /// The bytes are gone when this returns.
  func received(_ bytes: UnsafeRawBufferPointer) {}
  /// The other side sends no more.
  func cameToEnd() {}
  /// Everything that was to be sent is with the kernel, after some of it had to wait.
  func sentAll() {}
  /// The time of ``startTimer(milliseconds:)`` is over.
  func timePassed() {}
  /// The socket is closed.
  func hasClosed() {}

  /// Begins to read.
  final func open() {
    readable = event_new(
      loop.base, descriptor, Int16(EV_READ | EV_PERSIST), { _, _, this in LoopSocket.of(this)?.read() },
      this)
    guard let readable, event_add(readable, nil) == 0 else { return close() }
  }

  private final var this: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Holds the socket over a call that may close it.
  private static func of(_ pointer: UnsafeMutableRawPointer?) -> LoopSocket? {
    pointer.map { Unmanaged<LoopSocket>.fromOpaque($0).takeUnretainedValue() }
  }

  private final func read() {
    let count = recv(descriptor, loop.input.baseAddress, loop.input.count, 0)
    if count > 0 {
      received(UnsafeRawBufferPointer(rebasing: loop.input[..<count]))
    } else if count == 0 {
      cameToEnd()
    } else if ![EAGAIN, EINTR].contains(enroll_posix_errno()) {
      close()
    }
  }

  /// While it is off, nobody notices that the other side leaves.
  final func setReading(_ isOn: Bool) {
    guard isPaused == isOn, let readable else { return }
    isPaused = !isOn
    if isOn { event_add(readable, nil) } else { event_del(readable) }
  }

  /// How much waits for the other side to take more.
  final var unsentCount: Int { output.count }

  /// - Parameter bodyCount: how much of the body is sent.
  final func send(_ head: [UInt8], _ body: [UInt8] = [], _ bodyCount: Int = 0) {
    output.add(head, body, bodyCount, to: descriptor)
    if output.count > 0 { awaitWritable() }
  }

  private final func awaitWritable() {
    if writable == nil {
      writable = event_new(
        loop.base, descriptor, Int16(EV_WRITE), { _, _, this in LoopSocket.of(this)?.write() }, this)
    }
    guard let writable, event_add(writable, nil) == 0 else { return close() }
  }

  private final func write() {
    guard output.flush(to: descriptor) else { return close() }
    if output.count > 0 { awaitWritable() } else { sentAll() }
  }

  /// There is one timer; it starts anew.
  final func startTimer(milliseconds: Int64) {
    if timer == nil {
      timer = event_new(loop.base, -1, 0, { _, _, this in LoopSocket.of(this)?.timePassed() }, this)
    }
    var time = timeval(milliseconds: milliseconds)
    guard let timer, event_add(timer, &time) == 0 else { return close() }
  }

  /// Tells the other side that nothing more comes.
  final func closeOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Leaves the loop. What is left to send is dropped.
  final func close() {
    guard !isClosed else { return }
    isClosed = true
    // Before the descriptor, which another connection may have at once.
    for event in [readable, writable, timer] where event != nil { event_free(event) }
    (readable, writable, timer) = (nil, nil, nil)
    closeFile(descriptor)
    output = OutputBuffer()
    hasClosed()
  }
}

/// close(2), for types with a method of that name.
func closeFile(_ descriptor: Int32) { close(descriptor) }
