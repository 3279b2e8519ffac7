// The program's life: read the words, run one command, finish what was begun, say how it ended by the exit status.

import ArgumentParser
import CPosix
import EnrollHost
import EnrollJSON
import EnrollPosix

enum Program {
  /// - Returns: the exit status, out of ``CommandStatus``.
  static func run() -> Int32 {
    // A reader that has enough ends no program; until the command runs, other signals do.
    enroll_posix_ignore_signal(SIGPIPE)
    if let words = Encoding.complaint() {
      Terminal.errors.say("enroll: \(words)")
      return CommandStatus.usage.rawValue
    }
    do {
      var command = try Enroll.parseAsRoot(CommandWords.arguments())
      guard let own = command as? any EnrollCommand else {
        // The parser's own output, and `help`.
        try command.run()
        return Output.isWhole ? CommandStatus.done.rawValue : CommandStatus.failed.rawValue
      }
      return Run.perform(own.request) { session throws(Failure) in try own.perform(session) }
    } catch {
      return refuse(error)
    }
  }

  /// Prints the parser's output: help, a version, a completion script, or what is wrong with the arguments.
  private static func refuse(_ error: any Error) -> Int32 {
    let text = Enroll.fullMessage(for: error)
    guard Enroll.exitCode(for: error) != .success else {
      Output.line(text)
      return Output.isWhole ? CommandStatus.done.rawValue : CommandStatus.failed.rawValue
    }
    Terminal.errors.write(text + "\n")
    if let meant = Guess.command(Array(CommandLine.arguments.dropFirst())) {
      Terminal.errors.say("Did you mean enroll \(meant)?")
    }
    return CommandStatus.usage.rawValue
  }
}

extension Guess {
  /// Of commands: what the parser calls an unexpected argument.
  static func command(_ arguments: [String]) -> String? {
    let names = Enroll.configuration.subcommands.map { $0._commandName } + ["help"]
    guard let first = arguments.first, !first.hasPrefix("-") else { return nil }
    return nearest(to: first, among: names)
  }
}
