// The one place in which the program waits: for an answer of the library, for the person at the terminal, for a signal, for
// the browser's starter to end; and turns the spinner meanwhile.

import CPosix
import EnrollCommands
import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

/// The events that the main thread waits for. A class because the threads that answer wake it.
final class Waits {
  /// Raised once the user asked for the end.
  private(set) var isInterrupted = false
  private let answers = enroll_posix_event()
  /// How often an answer is looked for where the process had no descriptor left for ``answers``.
  private static let lookMilliseconds: Int32 = 50

  enum Event { case answer, interrupt, typed, tick, watched }

  /// An answer on its way from another thread.
  final class Answer: Sendable {
    private let result = Guarded<Result<JSON, EnrollError>?>(nil, by: Mutex())
    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func put(_ result: Result<JSON, EnrollError>) {
      self.result.withLock { $0 = result }
      var one: UInt64 = 1
      _ = write(descriptor, &one, 8)
    }

    var taken: Result<JSON, EnrollError>? { result.withLock { $0 } }
  }

  func answer() -> Answer { Answer(answers) }

  /// - Parameters:
  ///   - milliseconds: after which it is `.tick`; nil for never.
  ///   - listens: whether something typed on stdin counts.
  ///   - watching: one more descriptor that counts once it is readable.
  func next(milliseconds: Int32? = nil, listens: Bool = false, watching: Int32 = -1) -> Event {
    var sources = [
      pollfd(fd: answers, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isInterrupted ? -1 : Interrupts.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: listens ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: watching, events: Int16(POLLIN), revents: 0),
    ]
    let limit = answers < 0 ? min(milliseconds ?? .max, Self.lookMilliseconds) : milliseconds ?? -1
    guard poll(&sources, nfds_t(sources.count), limit) > 0 else { return .tick }
    if sources[1].revents != 0 {
      Interrupts.take()
      isInterrupted = true
      return .interrupt
    }
    if sources[3].revents != 0 { return .watched }
    if sources[0].revents != 0 {
      var count: UInt64 = 0
      _ = read(answers, &count, 8)
      return .answer
    }
    return .typed
  }
}
