// Prints the script for the shell's completion of this program's commands.

import CPosix
import EnrollArguments

enum CompletionsCommand {
  private static let shell = Parameter.operand("shell", help: "bash, zsh or fish.", of: Shell.self)

  static let command: Command = Command(
    "completions", "Print a script that lets a shell complete these commands.", arguments: [shell.argument]
  ) { values throws(UsageError) in
    guard let shell = values[Self.shell] else { throw UsageError("SHELL is missing.") }
    return GatewayCommand.status {
      let script = GatewayCommand.program.completionScript(for: shell)
      StandardStream.write(Array(script.utf8), to: STDOUT_FILENO)
    }
  }
}
