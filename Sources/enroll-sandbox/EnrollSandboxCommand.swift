// The sandbox as a program: starts the provider, writes one line of JSON that says at which URL it is, and then logs
// requests on stderr.

import EnrollArguments
import EnrollHost
import EnrollPosix
import EnrollSandbox
import Foundation

@main
enum EnrollSandboxCommand {
  static func main() async {
    let program = Program(SandboxArguments.command, version: LibraryVersion.string, usageStatus: 64)
    if let index = ProcessArguments.firstInvalidUTF8() {
      write("enroll-sandbox: argument \(index) is not UTF-8: expected text in UTF-8\n", to: .standardError)
      exit(program.usageStatus)
    }
    switch program.read(Array(CommandLine.arguments.dropFirst())) {
    case .output(let text): write(text, to: .standardOutput)
    case .refusal(let text):
      write(text, to: .standardError)
      exit(program.usageStatus)
    case .command(let invocation):
      do {
        let options = try SandboxArguments.options(invocation.values)
        exit(await run(invocation.values, options))
      } catch {
        write(program.refusal(error, invocation.path), to: .standardError)
        exit(program.usageStatus)
      }
    }
  }

  /// - Returns: the exit status.
  private static func run(_ values: Values, _ options: SandboxOptions) async -> Int32 {
    if values[SandboxArguments.faults] {
      write(FaultTable.text + "\n", to: .standardOutput)
      return 0
    }
    var options = options
    let isQuiet = values[SandboxArguments.quiet]
    if !isQuiet { options.log = { write($0 + "\n", to: .standardError) } }
    let sandbox: Sandbox
    let issuer: String
    do {
      if values[SandboxArguments.printConfig] {
        let provider = try Provider(options, issuer: "http://127.0.0.1:\(options.port)")
        write(await provider.readableConfiguration + "\n", to: .standardOutput)
        return 0
      }
      sandbox = try Sandbox(options)
      issuer = try await sandbox.start()
    } catch {
      let why =
        error is Sandbox.PortIsTaken
        ? "port \(options.port) is taken by another program: end that program, or choose another port by --port"
        : "the provider does not start: \(error)"
      write("enroll-sandbox: \(why)\n", to: .standardError)
      return 1
    }
    write(await sandbox.provider.readyLine + "\n", to: .standardOutput)
    if !isQuiet { write("enroll-sandbox: ready at \(issuer), end with Ctrl-C\n", to: .standardError) }
    await Ending.wait(orStdin: values[SandboxArguments.exitWithStdin])
    await sandbox.stop()
    return 0
  }

  /// Ends the program if a write to standard output fails, because the program that started the sandbox waits
  /// for the ready line. A failed write to the log is ignored.
  private static func write(_ text: String, to stream: FileHandle) {
    do {
      try stream.write(contentsOf: Data(text.utf8))
    } catch {
      guard stream.fileDescriptor == STDOUT_FILENO else { return }
      write(
        "enroll-sandbox: standard output cannot be written: \(error.localizedDescription)\n",
        to: .standardError)
      exit(1)
    }
  }
}
