// Keeps the bytes that the kernel does not accept at once, until the socket is writable.

import CPosix

/// The bytes that a connection still has to send.
struct OutputBuffer {
  private var parts: [ArraySlice<UInt8>] = []
  private(set) var count = 0

  /// Sends as much as the kernel accepts at once, and keeps the rest. An error of the connection is ignored here: the next read
  /// reports it.
  /// - Parameter bodyCount: how many bytes of the body to send.
  mutating func add(_ head: [UInt8], _ body: [UInt8], _ bodyCount: Int, to descriptor: Int32) {
    let sent = count == 0 ? Self.write(head, body, bodyCount, to: descriptor) : 0
    if sent < head.count { keep(ArraySlice(Array(head[sent...]))) }
    let bodySent = max(0, sent - head.count)
    // The slice shares the body's storage.
    if bodySent < bodyCount { keep(body[bodySent..<bodyCount]) }
  }

  private mutating func keep(_ part: ArraySlice<UInt8>) {
    parts.append(part)
    count += part.count
  }

  /// Sends buffered bytes.
  /// - Returns: false if the connection is broken.
  mutating func flush(to descriptor: Int32) -> Bool {
    while let first = parts.first {
      let sent = first.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent >= 0 else { return [EAGAIN, EINTR].contains(enroll_posix_errno()) }
      count -= sent
      if sent == first.count { parts.removeFirst() } else { parts[0] = first.dropFirst(sent) }
    }
    return true
  }

  private static func write(
    _ head: [UInt8], _ body: [UInt8], _ bodyCount: Int, to descriptor: Int32
  ) -> Int {
    head.withUnsafeBytes { head in
      body.withUnsafeBytes { body in
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
          parts[0] = iovec(iov_base: UnsafeMutableRawPointer(mutating: head.baseAddress), iov_len: head.count)
          parts[1] = iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: bodyCount)
          var message = msghdr()
          message.msg_iov = parts.baseAddress
          message.msg_iovlen = bodyCount > 0 ? 2 : 1
          return max(0, sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)))
        }
      }
    }
  }
}
