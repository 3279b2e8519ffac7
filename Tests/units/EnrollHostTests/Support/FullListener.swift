// A port at which no connection is established until ``accept()``: the queue of the kernel is full.

import Foundation

/// A listener whose queue is full until ``accept()``. Each accepted connection gets one answer.
final class FullListener: @unchecked Sendable {
  // Unchecked: everything is set before the thread begins.
  let port: Int
  private let listener: Int32
  private let fillers: [Int32]

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    func withAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
      withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
      }
    }
    guard withAddress({ bind(listener, $0, length) }) == 0, Foundation.listen(listener, 0) == 0,
      withAddress({ getsockname(listener, $0, &length) }) == 0
    else { throw POSIXError(.EADDRNOTAVAIL) }
    fillers = (0..<4).map { _ in
      let filler = socket(
        AF_INET,
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      _ = withAddress { connect(filler, $0, length) }
      return filler
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    self.listener = listener
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Accepts connections from now on, and answers each request.
  func accept() {
    for filler in fillers { close(filler) }
    let listener = listener
    Thread.detachNewThread {
      while true {
        let descriptor = Foundation.accept(listener, nil, nil)
        guard descriptor >= 0 else { break }
        let connection = RawConnection(descriptor: descriptor, number: 0) { _ in }
        if connection.readRequest() != nil { connection.answer() }
        close(descriptor)
      }
      close(listener)
    }
  }
}
