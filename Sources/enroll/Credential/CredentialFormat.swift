// The table of the protocols in which programs ask a command for a credential. The parser, the help, the manual,
// docs/other-programs.md and the tests get their texts from it. Each protocol is one row, in a separate file.

import EnrollArguments
import EnrollJSON

/// A protocol, and the programs that speak it.
struct CredentialFormat: Sendable {
  /// The word on the command line.
  let name: String
  /// The programs that use this protocol.
  let programs: String
  /// The settings that make the programs call this command, and the files for these settings. A line that begins with
  /// a space is printed unchanged.
  let setup: String
  /// The name of the link to this program, for a program that starts its helper by a fixed name and without `--host`;
  /// nil if the program can start any program with arguments.
  let alias: String?
  /// The arguments that the program adds to the command line.
  let arguments: [Argument]
  /// Whether the program gets a password that is not sent as a Bearer token.
  let hasUsername: Bool
  /// Reads the question.
  let read: @Sendable (CredentialCall) -> CredentialQuestion

  static let all: [CredentialFormat] = [.git, .docker, .bazel, .cargo, .go, .terraform, .keyring]
}

/// How the program was called.
struct CredentialCall {
  /// The words that the program added to the command line.
  let words: [String]
  let hosts: CredentialHosts

  func word(_ index: Int) -> String { words.indices.contains(index) ? words[index] : "" }
}

/// A question of a program, in the same form for all protocols.
struct CredentialQuestion {
  enum Wish {
    /// A token for the target.
    case token
    /// The server refused this token. The program does not wait for a new token.
    case rejected(String)
    /// The server refused the current token, and the program wants a new token.
    case another
    /// No token is needed: the answer is `nothing`.
    case none
  }

  var wish: Wish
  /// The target for which the program wants a token. nil if the question is about all hosts that the user named, or if
  /// the target gets no token.
  var target: CredentialTarget?
  /// Whether the question is about all hosts that the user named.
  var isAboutAllHosts = false
  /// The answer with a token. `username` is the user name for a program that did not name a user.
  var answer: (_ token: BearerToken, _ username: String) -> String = { _, _ in "" }
  /// The answer for a host that the user did not name.
  var nothing = CredentialAnswer()
  /// The answer on standard output if there is no token, although the host is named.
  var failed: (Failure) -> String = { _ in "" }
  /// Whether the program reads the reason for a failure only if the exit status is 0.
  var failsInWords = false
}

/// An answer without a token.
struct CredentialAnswer {
  var output = ""
  /// The message on standard error.
  var words: String?
  var status = CommandStatus.done

  /// The answer to a request to store or erase a password.
  static func storesNothing(_ output: String = "") -> CredentialAnswer {
    CredentialAnswer(
      output: output, words: "no password is stored: enroll login signs in, enroll logout signs out",
      status: .failed)
  }

  /// The answer to an operation that the protocol does not have.
  static func unknown(_ word: String, of names: String) -> CredentialAnswer {
    CredentialAnswer(
      words: "unknown operation \(Shown.text(word)): expected \(names)", status: .usage)
  }
}
