// The command that nobody types: `enroll detached-step`. The program starts itself by it for a renewal or a code's exchange,
// which then goes on whatever becomes of the command that wanted it. Its input is what the command had read from its
// descriptors and its user; it has no options, no output for people and no place in the help.

import EnrollCommands
import EnrollPosix

enum DetachedCommand {
  private static let word = "detached-step"

  /// A session whose steps run in processes of their own, where the system makes any.
  static let environment = SessionEnvironment.user.startingSteps { order in
    DetachedProcess.start(["enroll", word], handing: order)
  }

  static func isMeant(by words: [String]) -> Bool { words == [word] }

  /// - Returns: the exit status, which nobody waits for.
  static func run() -> Int32 {
    guard let (order, answers) = DetachedProcess.leave() else { return CommandStatus.usage.rawValue }
    try? ProcessMemory.hide()
    Session(.user).perform(order: order) { line in
      DetachedProcess.write(line + [UInt8(ascii: "\n")], to: answers)
    }
    return CommandStatus.done.rawValue
  }
}
