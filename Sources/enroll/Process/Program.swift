// The program's life: read the words, run one command, finish what was begun, say how it ended by the exit status.

import ArgumentParser
import CPosix
import EnrollHost
import EnrollJSON
import EnrollPosix

enum Program {
  /// - Returns: the exit status, out of ``CommandStatus``.
  static func run() -> Int32 {
    Interrupts.prepare()
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
      return perform(own)
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

  private static func perform(_ command: any EnrollCommand) -> Int32 {
    // A browser that is started from here inherits no more of it than that it writes no core dump.
    try? ProcessMemory.hide()
    let session: CommandSession
    do throws(Failure) {
      session = try CommandSession(command.context, for: command)
    } catch {
      return tell(error, command)
    }
    // A renewal that was sent is stored, whatever happened meanwhile.
    defer { session.finish() }
    do throws(Failure) {
      let ending = try command.perform(session)
      return Output.isWhole ? ending.rawValue : CommandStatus.failed.rawValue
    } catch {
      return tell(error, command)
    }
  }

  private static func tell(_ failure: Failure, _ command: any EnrollCommand) -> Int32 {
    let said = Said(command)
    let failure = failure.guessing(command.context)
    if command.place.json { Output.json(failure.json(said)) } else { Terminal.errors.tell(failure, said) }
    return failure.ending.rawValue
  }
}

/// Paths and names are text here. Bytes that are no UTF-8 would become another path, and another store: they are refused.
enum Encoding {
  private static let variables = ["ENROLL_STORE", "ENROLL_CONFIG", "ENROLL_PROFILE", "ENROLL_ACCOUNT"]

  /// The fault of the arguments or of the program's own variables; nil if there is none.
  static func complaint() -> String? {
    for (index, word) in (CommandWords.pointers() ?? []).enumerated() where index > 0 {
      guard String(validatingCString: word) != nil else {
        return "argument \(index) is not UTF-8: \(expectation)"
      }
    }
    for name in variables {
      guard let value = getenv(name) else { continue }
      guard String(validatingCString: value) != nil else { return "\(name) is not UTF-8: \(expectation)" }
    }
    return nil
  }

  private static let expectation = "expected paths and names in UTF-8"
}
