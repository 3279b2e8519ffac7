// The requests that the daemon sends to its host, if the host provides HTTP and secrets itself. Their ids are h1, h2, …
// The host may use the same ids for its own requests: a message with a method is a request, and a message without a
// method is an answer.
//
// The caller waits on its own thread. The reading thread delivers the answers and never waits. Each request gets only
// one answer: a second answer, a late answer, and an answer to an unknown request are dropped.

import EnrollCommands
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Requests that the host has not answered yet. It is a class, because threads share it.
final class HostRequests: HostRequester {
  private struct Table {
    var open: [UInt64: PendingRequest] = [:]
    var next: UInt64 = 1
    var isClosed = false
  }

  /// One request that waits for its answer. Only the first call of ``end(_:)`` has an effect.
  private final class PendingRequest: Sendable {
    private let answer = Guarded<HostAnswer?>(nil, by: Mutex())
    private let over = Event()

    /// - Returns: whether this was the first call for the request.
    @discardableResult
    func end(_ how: HostAnswer) -> Bool {
      let isFirst = answer.withLock { answer -> Bool in
        guard answer == nil else { return false }
        answer = how
        return true
      }
      if isFirst { over.set() }
      return isFirst
    }

    /// - Returns: `.silence` if the request has not ended before the deadline.
    func wait(until deadline: Instant, by clock: any Clock) -> HostAnswer {
      if !over.wait(until: deadline, by: clock) { end(.silence) }
      return answer.withLock { $0 } ?? .silence
    }
  }

  private let table = Guarded(Table(), by: Mutex())
  private let clock = SystemClock()
  private let log: Log
  private let send: @Sendable (JSON) -> Void

  /// - Parameter send: queues a message for the host. It never waits.
  init(log: Log, send: @escaping @Sendable (JSON) -> Void) {
    self.log = log
    self.send = send
  }

  func ask(
    _ request: HostRequest, _ parameters: JSON, nanoseconds: Int64, cancellation: (any Cancellation)?
  ) -> HostAnswer {
    if cancellation?.isCancelled ?? false { return .cancelled }
    let pending = PendingRequest()
    guard let number = open(pending) else { return .gone }
    let id = MessageID.text("h\(number)")
    log.debug("\(request.name) h\(number) begins")
    send(Reply.request(id, request.name, parameters))
    let hook = cancellation?.onCancel { pending.end(.cancelled) }
    let answer = pending.wait(until: clock.instant().advanced(byNanoseconds: nanoseconds), by: clock)
    if let hook { cancellation?.removeHook(hook) }
    switch answer {
    case .silence, .cancelled:
      close(number)
      log.debug("\(request.name) h\(number) is not waited for any more")
      send(Reply.notification("$/cancelRequest", .object([("id", id.json)])))
    case .result, .refusal, .malformed, .gone: break
    }
    return answer
  }

  /// Delivers an answer of the host to the caller that waits for it. This method never waits.
  func deliver(_ id: MessageID?, _ answer: HostAnswer) {
    guard let number = id.flatMap({ Self.number($0) }), let pending = close(number), pending.end(answer)
    else {
      return log.debug("an answer to no pending request was ignored")
    }
  }

  /// Call this when the host cannot answer any more. Every wait ends, and later requests end at once.
  func end() {
    let left = table.withLock { table -> [PendingRequest] in
      table.isClosed = true
      defer { table.open = [:] }
      return Array(table.open.values)
    }
    for pending in left { pending.end(.gone) }
  }

  /// Adds a request to the table, and returns its number; nil if the host cannot answer any more.
  private func open(_ pending: PendingRequest) -> UInt64? {
    table.withLock { table in
      guard !table.isClosed else { return nil }
      let number = table.next
      table.next += 1
      table.open[number] = pending
      return number
    }
  }

  @discardableResult
  private func close(_ number: UInt64) -> PendingRequest? {
    table.withLock { $0.open.removeValue(forKey: number) }
  }

  /// The number in an id such as `h1`; nil unless the id is spelt exactly as the daemon spells it.
  private static func number(_ id: MessageID) -> UInt64? {
    guard case .text(let text) = id, text.utf8.first == UInt8(ascii: "h"),
      let number = UInt64(text.dropFirst()),
      ASCII.equals("h\(number)", text)
    else { return nil }
    return number
  }
}
