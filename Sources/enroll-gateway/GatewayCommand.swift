// The gateway as a program: `serve` answers requests, the other commands prepare and check a gateway. A failure prints
// one line on standard error, which says what to do, and ends with exit status 1.

import CPosix
import EnrollArguments
import EnrollRules
import EnrollHost
import EnrollPosix

@main
enum GatewayCommand {
  static let program: Program = Program(
    Command(
      "enroll-gateway",
      "Signs users in at your providers, stores their accounts, and gives apps their sessions.",
      subcommands: [
        ServeCommand.command, MigrateCommand.command, CheckCommand.command, KeysCommand.command,
        AccountsCommand.command, CompletionsCommand.command,
      ]), version: LibraryVersion.string, usageStatus: 64)

  /// The option of every command that uses the gateway's configuration.
  static let config = Parameter.option(
    "config", value: "file", help: "The configuration file.", default: "/etc/enroll-gateway/gateway.json",
    completion: .files(extension: "json"))

  /// Runs the program. A signal that arrives while arguments are read or the database is migrated stays pending until
  /// `serve` reads it, because by default SIGHUP would end the program.
  static func main() {
    // If standard output were closed, a database connection could get its descriptor, and receive the program's output.
    enroll_posix_open_missing_streams()
    enroll_posix_return_memory()
    // Uses ProcessArguments, because CommandLine reads /proc, which some containers do not have.
    if let index = ProcessArguments.firstInvalidUTF8() {
      StandardStream.printLine(
        "enroll-gateway: argument \(index) is not UTF-8: expected paths and names in UTF-8", to: STDERR_FILENO
      )
      exit(64)
    }
    let words = ProcessArguments.arguments() ?? Array(CommandLine.arguments.dropFirst())
    if let command = words.first, ASCII.equals(command, "serve") { ServiceSignals.block() }
    let outcome = program.run(
      words, output: { StandardStream.write(Array($0.utf8), to: STDOUT_FILENO) },
      errors: { StandardStream.write(Array($0.utf8), to: STDERR_FILENO) })
    // Help that was printed only in part also counts as a failure.
    exit(outcome == 0 ? status {} : outcome)
  }

  /// Runs a command; a failure prints one line.
  /// - Returns: the exit status.
  static func status(of body: () throws(EnrollError) -> Void) -> Int32 {
    do throws(EnrollError) {
      try body()
      try StandardStream.checkOutput()
      return 0
    } catch {
      StandardStream.printLine("enroll-gateway: \(error.message)", to: STDERR_FILENO)
      return 1
    }
  }
}
