// The gateway as a program: `serve` answers, the other commands prepare and check. Failures are one line on standard error, which says
// what to do, and the exit status 1.

import CPosix
import EnrollArguments
import EnrollCore
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

  /// Of every command that uses the gateway's configuration.
  static let config = Parameter.option(
    "config", value: "file", help: "The configuration file.", default: "/etc/enroll-gateway/gateway.json",
    completion: .files(extension: "json"))

  /// A signal that comes while the arguments are read, or the database is migrated, waits until `serve` reads it: by default SIGHUP
  /// would end the program.
  static func main() {
    // A database's connection in the place of standard output would get what is written there.
    enroll_posix_open_missing_streams()
    enroll_posix_return_memory()
    // CommandLine reads /proc, which is not there in every container.
    if let index = CommandWords.firstThatIsNotText() {
      StandardStream.say(
        "enroll-gateway: argument \(index) is not UTF-8: expected paths and names in UTF-8", to: STDERR_FILENO
      )
      exit(64)
    }
    let words = CommandWords.arguments() ?? Array(CommandLine.arguments.dropFirst())
    if let command = words.first, ASCII.equals(command, "serve") { ServiceSignals.block() }
    let outcome = program.run(
      words, output: { StandardStream.write(Array($0.utf8), to: STDOUT_FILENO) },
      errors: { StandardStream.write(Array($0.utf8), to: STDERR_FILENO) })
    // Help that was cut is a failure, too.
    exit(outcome == 0 ? status {} : outcome)
  }

  /// Runs a command; a failure is one line.
  /// - Returns: the exit status.
  static func status(of body: () throws(EnrollError) -> Void) -> Int32 {
    do throws(EnrollError) {
      try body()
      try StandardStream.checkOutput()
      return 0
    } catch {
      StandardStream.say("enroll-gateway: \(error.message)", to: STDERR_FILENO)
      return 1
    }
  }
}
