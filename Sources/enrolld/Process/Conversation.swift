// stdin and stdout put together: messages in, answers out, in the framing that the host chose.

import CPosix
import EnrollCommands
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix
import Synchronization

/// One host on stdin and stdout. Read from one thread, answered from many.
final class Conversation: @unchecked Sendable {
  // Unchecked: `reader` is only touched by the one thread that reads.
  let output: Output
  let server: Server
  private var reader = MessageReader()
  private let shared: Shared

  /// State that answers need, on any thread.
  private final class Shared: Sendable {
    let hasHeaders = Atomic<Bool>(false)
    let hasFailed = Atomic<Bool>(false)

    var framing: Framing { hasHeaders.load(ordering: .relaxed) ? .headers : .lines }
  }

  /// - Parameter waker: an event descriptor on which the reading thread waits as well.
  init(log: Log, waker: Int32) {
    let shared = Shared()
    let output = Output(STDOUT_FILENO) { ending in
      switch ending {
      case .hostGone: break
      case .hostDoesNotRead:
        shared.hasFailed.store(true, ordering: .relaxed)
        log.error("\(Output.limitBytes) bytes of answers wait and the host does not read them: ending")
      case .unwritable(let number):
        shared.hasFailed.store(true, ordering: .relaxed)
        log.error("standard output cannot be written: \(SystemError.words(number))")
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

  /// Whether answers were lost though the host is there.
  var hasFailed: Bool { shared.hasFailed.load(ordering: .relaxed) }

  /// - Returns: false when nothing after this can be understood.
  func read(_ chunk: UnsafeRawBufferPointer) -> Bool {
    output.pauseWhileFull()
    output.cork()
    defer { output.uncork() }
    var isUnderstood = true
    reader.read(chunk) { item, framing in if !take(item, framing) { isUnderstood = false } }
    return isUnderstood
  }

  /// - Returns: false when the input ended in the middle of a message.
  func readEnd() -> Bool {
    var isUnderstood = true
    reader.end { item, framing in if !take(item, framing) { isUnderstood = false } }
    return isUnderstood
  }

  private func take(_ item: MessageReader.Item, _ framing: Framing) -> Bool {
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
