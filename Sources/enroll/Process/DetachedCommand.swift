// The internal command `enroll detached-step`. The program starts itself with this command for a renewal or the
// exchange of a code. The step then continues even if the command that started it ends. The input of the new process
// is the data that the first command read from its descriptors and from the user. The command has no options, no
// output for people, and no entry in the help.

import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

enum DetachedCommand {
  private static let words = ["detached-step"]
  private static let name = "enroll"

  /// Starts this program with the order for one step.
  /// - Returns: a descriptor for the lines of the process; nil if no process could be started.
  static func start(_ order: [UInt8]) -> Int32? { DetachedProcess.start([name] + words, input: order) }

  /// Runs the internal command, if the arguments are those of the internal command.
  /// - Returns: the exit status; nil for another command.
  static func run(_ given: [String]) -> Int32? {
    if given == words + [DetachedProcess.detachArgument] {
      DetachedProcess.detach([name] + words)
      return CommandStatus.failed.rawValue
    }
    guard given == words else { return nil }
    guard let (order, answers) = DetachedProcess.begin() else { return CommandStatus.usage.rawValue }
    try? ProcessMemory.hide()
    DetachedOrder(order)?.perform { line in
      DetachedProcess.write(line + [UInt8(ascii: "\n")], to: answers)
    }
    return CommandStatus.done.rawValue
  }
}

/// Starts processes for the steps of one account. A class, because its client and the session share it.
final class OrderedSteps: StepProcesses {
  private let account: Guarded<DetachedOrder.Account>

  init(_ account: DetachedOrder.Account) { self.account = Guarded(account, by: Mutex()) }

  /// Sets the PIN with which the steps unlock the account.
  func use(_ pin: Secret) { account.withLock { $0.pin = pin } }

  func start(_ step: JSON) -> Int32? {
    DetachedOrder.bytes(account.withLock { $0 }, step).flatMap { DetachedCommand.start($0) }
  }
}
