// The program that reads every command line: it stands in `libexec/enrollkit` beside the directory of this one.

import CPosix
import EnrollPosix

enum FullProgram {
  private static let name = "libexec/enrollkit/enroll"

  /// Goes on as the full program, with the same words, environment and descriptors.
  /// - Returns: the exit status, if it cannot be started.
  static func execute() -> Int32 {
    guard let path = enroll_posix_path_beside(name) else {
      return fail(
        "\(name), beside this program's directory, is not found: the system does not tell where this program is"
      )
    }
    defer { free(path) }
    let number = enroll_posix_execute(path)
    return fail(
      "\(Shown.text(String(cString: path))) cannot be started: \(SystemError.words(number))",
      advice: number == ENOENT ? isLeftOut : installAgain)
  }

  private static let installAgain = "Install EnrollKit again."
  /// Some platforms' archives come without the full program.
  private static let isLeftOut =
    "Without it this program prints tokens alone. Sign in through the library or enrolld, or install a package that has it."

  private static func fail(_ words: String, advice: String = installAgain) -> Int32 {
    Terminal.errors.say("enroll: \(words). \(advice)")
    return CommandStatus.failed.rawValue
  }
}
