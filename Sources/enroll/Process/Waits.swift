// All waits of the program: for a result of the library, for the user at the terminal, for a signal, or for a watched
// descriptor.

import CPosix
import EnrollRules
import EnrollSteps
import EnrollPosix

/// The events for which the main thread waits. This type is a class, because other threads wake it with their results.
final class Waits {
  /// Whether the user pressed Ctrl-C, or another signal asked the program to end.
  private(set) var isInterrupted = false
  private let answers = enroll_posix_event()
  /// The interval at which the program checks for a result, if the process had no free descriptor for ``answers``.
  private static let lookMilliseconds: Int32 = 50

  enum Event { case answer, interrupt, typed, tick, watched }

  /// Makes the object that receives the result of a step on another thread.
  func answer<Value: Sendable>() -> Answer<Value> { Answer(waking: answers) }

  /// Waits for the next event.
  /// - Parameters:
  ///   - milliseconds: the time after which the event is `.tick`; nil for no limit.
  ///   - listens: whether input on stdin is an event.
  ///   - watching: one more descriptor whose input is an event.
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
      Interrupts.clear()
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

/// The result of a step on another thread. This type is a class, because both threads use it.
final class Answer<Value: Sendable>: Sendable {
  private struct Ending {
    /// Either the value or the error is set once the step has ended.
    var value: Value?
    var error: EnrollError?
  }

  private let ending = Guarded(Ending(), by: Mutex())
  private let descriptor: Int32

  /// - Parameter descriptor: becomes readable when the result is there.
  init(waking descriptor: Int32) { self.descriptor = descriptor }

  func put(_ result: Result<Value, EnrollError>) {
    ending.withLock { ending in
      switch result {
      case .success(let value): ending.value = value
      case .failure(let error): ending.error = error
      }
    }
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  var isThere: Bool { ending.withLock { $0.value != nil || $0.error != nil } }

  /// Call this once the result is there.
  /// - Throws: the error of the step.
  func value() throws(EnrollError) -> Value {
    let ending = ending.withLock { $0 }
    if let value = ending.value { return value }
    throw ending.error ?? EnrollError(.internal, "a step ended without a result")
  }
}
