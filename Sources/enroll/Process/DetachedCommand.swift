// The command that nobody types: `enroll detached-step`. The program starts itself by it for a renewal or a code's exchange,
// which then goes on whatever becomes of the command that wanted it. Its input is what the command had read from its
// descriptors and its user; it has no options, no output for people and no place in the help.

import EnrollCommands
import EnrollPosix

enum DetachedCommand {
  private static let words = ["detached-step"]
  private static let name = "enroll"

  /// A session whose steps run in processes of their own, where the system makes any.
  static let environment = SessionEnvironment.user.startingSteps { order in
    DetachedProcess.start([name] + words, handing: order)
  }

  /// - Returns: the exit status; nil for another command.
  static func run(_ given: [String]) -> Int32? {
    if given == words + [DetachedProcess.leaving] {
      DetachedProcess.leave([name] + words)
      return CommandStatus.failed.rawValue
    }
    guard given == words else { return nil }
    guard let (order, answers) = DetachedProcess.enter() else { return CommandStatus.usage.rawValue }
    try? ProcessMemory.hide()
    Session(.user).perform(order: order) { line in
      DetachedProcess.write(line + [UInt8(ascii: "\n")], to: answers)
    }
    return CommandStatus.done.rawValue
  }
}
