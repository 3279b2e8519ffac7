// Connects stdin and stdout to the server: reads messages and writes answers, in the framing that the host chose.

import CPosix
import EnrollCommands
import EnrollHost
import EnrollJSON
import EnrollPosix
import Synchronization

/// The connection to one host on stdin and stdout. One thread reads; many threads answer.
final class HostConnection: @unchecked Sendable {
  // Unchecked: `reader` is only touched by the one thread that reads.
  let output: OutputWriter
  let server: Server
  private var reader = MessageReader()
  private let shared: Shared

  /// The state that threads share to send answers.
  private final class Shared: Sendable {
    let hasHeaders = Atomic<Bool>(false)
    let hasFailed = Atomic<Bool>(false)

    var framing: Framing { hasHeaders.load(ordering: .relaxed) ? .headers : .lines }
  }

  /// - Parameter waker: an event descriptor on which the reading thread also waits.
  init(log: Log, waker: Int32) {
    let shared = Shared()
    let output = OutputWriter(STDOUT_FILENO) { ending in
      switch ending {
      case .hostGone: break
      case .hostDoesNotRead:
        shared.hasFailed.store(true, ordering: .relaxed)
        log.error("\(OutputWriter.limitBytes) bytes of answers wait and the host does not read them: ending")
      case .unwritable(let number):
        shared.hasFailed.store(true, ordering: .relaxed)
        log.error("standard output cannot be written: \(SystemError.message(number))")
      }
      var one: UInt64 = 1
      _ = write(waker, &one, 8)
    }
    server = Server(SessionEnvironment.user.logging(log), log: log) { message in
      output.send(shared.framing.framed(message.serialized()))
    }
    self.shared = shared
    self.output = output
  }

  /// Whether some answers were lost although the host is still connected.
  var hasFailed: Bool { shared.hasFailed.load(ordering: .relaxed) }

  /// - Returns: false if the input is so malformed that the rest of it cannot be understood.
  func read(_ chunk: UnsafeRawBufferPointer) -> Bool {
    output.pauseWhileFull()
    output.cork()
    defer { output.uncork() }
    var isUnderstood = true
    reader.read(chunk) { item, framing in if !handle(item, framing) { isUnderstood = false } }
    return isUnderstood
  }

  /// - Returns: false if the input ended inside a message.
  func readEnd() -> Bool {
    var isUnderstood = true
    reader.end { item, framing in if !handle(item, framing) { isUnderstood = false } }
    return isUnderstood
  }

  private func handle(_ item: MessageReader.Item, _ framing: Framing) -> Bool {
    shared.hasHeaders.store(framing == .headers, ordering: .relaxed)
    switch item {
    case .message(let message): server.receive(message)
    case .tooLong: server.refuseTooLong()
    case .unframed(let detail):
      server.refuseUnframed(detail)
      return false
    }
    return true
  }
}
