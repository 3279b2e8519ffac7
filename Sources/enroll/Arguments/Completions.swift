// The script with which a shell completes the words of this program.

import CPosix
import EnrollArguments

enum Completions {
  private static let shell = Parameter.operand("shell", help: "bash, zsh or fish.", of: Shell.self)

  static let command = Command(
    "completions", "Print a script that lets a shell complete these commands.",
    discussion: """
      bash: source <(enroll completions bash), in ~/.bashrc.
      zsh:  enroll completions zsh >~/.zfunc/_enroll, with ~/.zfunc in fpath.
      fish: enroll completions fish >~/.config/fish/completions/enroll.fish
      """,
    arguments: [shell.argument], action: print)

  private static func print(_ values: Values) throws(UsageError) -> Int32 {
    guard let shell = values[Self.shell] else { throw UsageError("SHELL is missing.") }
    Output.write(Enroll.program.completionScript(for: shell), to: STDOUT_FILENO)
    return CommandStatus.done.rawValue
  }
}
