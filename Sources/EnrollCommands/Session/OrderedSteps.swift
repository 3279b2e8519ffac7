// Steps of a client that a process of their own runs: what that process is given to open the same account, and what it does
// with it.

import EnrollCore
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

/// Orders steps of one client. A class because its client and the commands about the PIN share it.
final class OrderedSteps: StepProcesses {
  private let opening: JSONObject
  private let begin: @Sendable ([UInt8]) -> Int32?
  private let pin = Guarded<Secret?>(nil, by: Mutex())

  /// - Parameter opening: the parameters with which the client was opened.
  init(opening: JSONObject, _ begin: @escaping @Sendable ([UInt8]) -> Int32?) {
    self.opening = opening
    self.begin = begin
  }

  /// The PIN that opens the account from now on; nil: none is needed.
  func use(_ pin: Secret?) { self.pin.withLock { $0 = pin } }

  func start(_ step: JSON) -> Int32? {
    let pin = pin.withLock { $0 }
    let order = JSON.object([
      ("open", .object(opening)), ("pin", pin.map { .string($0.reveal()) }), ("step", step),
    ])
    return begin(order.serialized())
  }
}

extension Session {
  /// Runs the step that another process ordered, and returns once all is stored that it brought.
  /// - Parameters:
  ///   - order: the bytes that the other process's environment was given.
  ///   - tell: gets the lines for the other process, each without its end. It gets none where the account cannot be opened: the other
  ///     process then runs the step itself.
  public func perform(order: [UInt8], tell: @escaping @Sendable ([UInt8]) -> Void) {
    defer { finish() }
    guard let order = try? JSON.parse(order), var opening = order["open"]?.object,
      let step = order["step"].flatMap({ DetachedStep($0) })
    else { return }
    opening["renewInBackground"] = nil
    guard let handle = try? call("client.open", .object(opening))["client"] else { return }
    if let pin = order["pin"] {
      guard let answer = try? call("pin.unlock", .object([("client", handle), ("pin", pin)])),
        answer["outcome"] == .string(PINAnswer.Outcome.unlocked.rawValue)
      else { return }
    }
    client(handle)?.perform(step) { tell($0.serialized()) }
  }
}
