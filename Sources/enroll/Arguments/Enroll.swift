// The command line's root.

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

      Every command takes --json. Exit statuses and files are in the manual: man enroll.
      """,
    version: "enroll \(LibraryVersion.string)",
    subcommands: [
      Login.self, Register.self, Token.self, Status.self, Accounts.self, Logout.self, Doctor.self,
      Completions.self,
    ])
}
