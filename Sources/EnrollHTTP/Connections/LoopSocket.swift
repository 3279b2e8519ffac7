// A connected socket of an event loop: reads when bytes are there, sends as much as the kernel accepts, and buffers the rest.
// Subclasses handle the bytes and events.

import CEvent
import CPosix

/// A socket, confined to its loop's thread from ``open()`` to ``close()``.
class LoopSocket: @unchecked Sendable {
  // Unchecked: everything but `loop` is touched only on the loop.
  final let loop: EventLoop

  private final let descriptor: Int32
  private final var readable: OpaquePointer?
  private final var writable: OpaquePointer?
  private final var timer: OpaquePointer?
  private final var output = OutputBuffer()
  private final var isPaused = false
  private final var isClosed = false

  /// - Parameter descriptor: the socket; this object closes it.
  init(_ descriptor: Int32, _ loop: EventLoop) {
    self.descriptor = descriptor
    self.loop = loop
  }

  // Subclasses override these methods. A method may close the socket.

  /// Bytes were received. They are valid only until this returns.
  func received(_ bytes: UnsafeRawBufferPointer) {}
  /// The other side has closed, or closed its sending side.
  func cameToEnd() {}
  /// The kernel has accepted all bytes, after some of them had to be buffered.
  func sentAll() {}
  /// The time of ``startTimer(milliseconds:)`` has passed.
  func timePassed() {}
  /// The socket is closed.
  func hasClosed() {}

  /// Starts reading.
  final func open() {
    readable = event_new(
      loop.base, descriptor, Int16(EV_READ | EV_PERSIST), { _, _, this in LoopSocket.of(this)?.read() },
      this)
    guard let readable, event_add(readable, nil) == 0 else { return close() }
  }

  private final var this: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// Returns a strong reference, so that the socket outlives a call that closes it.
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

  /// Turns reading on or off. While it is off, the socket does not notice that the other side closes.
  final func setReading(_ isOn: Bool) {
    guard isPaused == isOn, let readable else { return }
    isPaused = !isOn
    if isOn { event_add(readable, nil) } else { event_del(readable) }
  }

  /// The number of bytes that the kernel has not accepted yet.
  final var unsentCount: Int { output.count }

  /// Sends a head and a part of a body.
  /// - Parameter bodyCount: how many bytes of the body to send.
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

  /// Starts the socket's only timer, or restarts it.
  final func startTimer(milliseconds: Int64) {
    if timer == nil {
      timer = event_new(loop.base, -1, 0, { _, _, this in LoopSocket.of(this)?.timePassed() }, this)
    }
    var time = timeval(milliseconds: milliseconds)
    guard let timer, event_add(timer, &time) == 0 else { return close() }
  }

  /// Closes the sending side (FIN).
  final func closeOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Removes the socket from the loop and closes it. Unsent bytes are dropped.
  final func close() {
    guard !isClosed else { return }
    isClosed = true
    // Free the events before closing: another connection may get the same descriptor at once.
    for event in [readable, writable, timer] where event != nil { event_free(event) }
    (readable, writable, timer) = (nil, nil, nil)
    closeFile(descriptor)
    output = OutputBuffer()
    hasClosed()
  }
}

/// close(2), for types with a method of that name.
func closeFile(_ descriptor: Int32) { close(descriptor) }
