// A batch (JSON-RPC 2.0 §6): its requests run side by side, its answers go out together, in the order of the requests.

import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Collects the answers of one batch. A class because its requests end on different threads.
final class Batch: Sendable {
  /// Requests in one batch; more are refused as a whole.
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

  /// - Parameter answer: nil for a notification.
  func settle(_ index: Int, _ answer: JSON?) {
    let all = answers.withLock { answers -> [JSON]? in
      answers.slots[index] = answer
      answers.open -= 1
      return answers.open == 0 ? answers.slots.compactMap { $0 } : nil
    }
    if let all, !all.isEmpty { send(.array(all)) }
  }
}
