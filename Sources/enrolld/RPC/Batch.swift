// A batch (JSON-RPC 2.0 §6): its requests run in parallel, and its answers are sent together in the order of the
// requests.

import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Collects the answers of one batch. This type is a class, because its requests end on different threads.
final class Batch: Sendable {
  /// The most requests in one batch. A larger batch is refused as a whole.
  static let limit = 1000

  private struct Answers {
    var slots: [JSON?]
    var open: Int
  }

  private let answers: Guarded<Answers>
  private let send: @Sendable (JSON) -> Void

  init(count: Int, send: @escaping @Sendable (JSON) -> Void) {
    answers = Guarded(Answers(slots: Array(repeating: nil, count: count), open: count), by: Mutex())
    self.send = send
  }

  /// Records the answer to the request at this index.
  /// - Parameter answer: the answer; nil for a notification.
  func setAnswer(_ index: Int, _ answer: JSON?) {
    let all = answers.withLock { answers -> [JSON]? in
      answers.slots[index] = answer
      answers.open -= 1
      return answers.open == 0 ? answers.slots.compactMap { $0 } : nil
    }
    if let all, !all.isEmpty { send(.array(all)) }
  }
}
