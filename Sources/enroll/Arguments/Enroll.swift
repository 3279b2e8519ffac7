// The command line's root, and the interface between the parser and the program: a command has options about the place,
// and a run that ends with an exit status.

import ArgumentParser
import EnrollHost

struct Enroll: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enroll",
    abstract: "Sign in through the browser once, then get a valid token at any time.",
    usage: "enroll <command> [options]",
    discussion: """
      The first time: enroll login --issuer URL --client-id ID. From then on:

        token=$(enroll token) &&
        curl -H "Authorization: Bearer $token" https://api.example/

      Every command accepts --json. For exit statuses and files see the manual: man enroll.
      """,
    version: "enroll \(LibraryVersion.string)",
    subcommands: [
      Login.self, Register.self, Token.self, Exec.self, Curl.self, GitCredential.self, Status.self,
      Accounts.self, Switch.self, Logout.self, Doctor.self, Completions.self,
    ])
}

/// A command that goes through the session.
protocol EnrollCommand: ParsableCommand {
  var place: ContextOptions { get }
  /// The provider that was named on the command line, where the command takes one.
  var provider: ProviderArguments? { get }
  /// The resource whose tokens are asked for, where one is named.
  var resource: String? { get }
  /// The command's name and its own options, to be typed again.
  var attempt: [String] { get }
  var request: CommandRequest { get }
  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus
}

extension EnrollCommand {
  var provider: ProviderArguments? { nil }
  var resource: String? { provider?.resource }
  var attempt: [String] { [Self._commandName] }

  var request: CommandRequest {
    // Where the resource's profile is, if that is meant.
    var place = place.options.at(resource, mustExist: provider == nil)
    place.namesProvider = !(provider?.words ?? []).isEmpty
    return CommandRequest(
      place: place,
      provider: provider?.named, resource: resource, attempt: attempt)
  }
}
