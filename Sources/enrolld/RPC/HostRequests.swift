// The daemon's own requests to its host, which serves HTTP and secrets itself. They are called h1, h2, …: what the host's
// requests are called is no matter, because answers have no method and requests have.
//
// The caller waits on a thread of its own; the reading thread delivers the answers and never waits. An answer is taken
// once: what comes a second time, too late, or for no request is dropped.

import EnrollCommands
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Requests that the host has not answered yet. A class because threads share it.
final class HostRequests: HostLine {
  private struct Table {
    var open: [UInt64: Question] = [:]
    var next: UInt64 = 1
    var isClosed = false
  }

  /// One request. Whatever ends it first counts.
  private final class Question: Sendable {
    private let answer = Guarded<HostAnswer?>(nil, by: Mutex())
    private let over = Event()

    /// - Returns: whether this was first.
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

    /// - Returns: `.silence` when nothing ended it by then.
    func wait(until deadline: Instant, by clock: any Clock) -> HostAnswer {
      if !over.wait(until: deadline, by: clock) { end(.silence) }
      return answer.withLock { $0 } ?? .silence
    }
  }

  private let table = Guarded(Table(), by: Mutex())
  private let clock = SystemClock()
  private let log: Log
  private let send: @Sendable (JSON) -> Void

  /// - Parameter send: queues a message for the host; never waits.
  init(log: Log, send: @escaping @Sendable (JSON) -> Void) {
    self.log = log
    self.send = send
  }

  func ask(
    _ request: HostRequest, _ parameters: JSON, nanoseconds: Int64, cancellation: (any Cancellation)?
  ) -> HostAnswer {
    if cancellation?.isCancelled ?? false { return .cancelled }
    let question = Question()
    guard let number = open(question) else { return .gone }
    let id = RequestID.text("h\(number)")
    log.debug("\(request.name) h\(number) begins")
    send(Reply.request(id, request.name, parameters))
    let hook = cancellation?.onCancel { question.end(.cancelled) }
    let answer = question.wait(until: clock.instant().advanced(byNanoseconds: nanoseconds), by: clock)
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

  /// Takes what the host answered. Never waits.
  func take(_ id: RequestID?, _ answer: HostAnswer) {
    guard let number = id.flatMap({ Self.number($0) }), let question = close(number), question.end(answer)
    else {
      return log.debug("an answer to no pending request was ignored")
    }
  }

  /// The host cannot answer any more: every wait ends, and later ones end at once.
  func end() {
    let left = table.withLock { table -> [Question] in
      table.isClosed = true
      defer { table.open = [:] }
      return Array(table.open.values)
    }
    for question in left { question.end(.gone) }
  }

  /// nil when the host cannot answer any more.
  private func open(_ question: Question) -> UInt64? {
    table.withLock { table in
      guard !table.isClosed else { return nil }
      let number = table.next
      table.next += 1
      table.open[number] = question
      return number
    }
  }

  @discardableResult
  private func close(_ number: UInt64) -> Question? {
    table.withLock { $0.open.removeValue(forKey: number) }
  }

  /// `h1` and the like, spelt in one way only.
  private static func number(_ id: RequestID) -> UInt64? {
    guard case .text(let text) = id, text.utf8.first == UInt8(ascii: "h"),
      let number = UInt64(text.dropFirst()),
      ASCII.equals("h\(number)", text)
    else { return nil }
    return number
  }
}
