// Commands that run another program with an access token. `exec` runs any program, with the token in an
// environment variable. `curl` runs curl, which reads the token from a descriptor, as a configuration.

import CPosix
import EnrollArguments
import EnrollRules

struct Exec: EnrollCommand {
  private static let variableName = Parameter.option(
    "variable", value: "name", help: "The name of the environment variable.", default: "ACCESS_TOKEN")
  private static let program = Parameter.rest(
    "command", help: "After --: the program and its arguments.",
    whenMissing: "No program is named. Write it behind two dashes: enroll exec -- COMMAND.",
    completion: .commandLine)

  static let command = Command(
    "exec", "Run a program with a valid access token in its environment.",
    discussion: """
      enroll exec -- deploy --all runs deploy --all with the token in ACCESS_TOKEN. Only this program and the programs that \
      it starts get the variable. Without a token the program does not start, and the exit status is that of enroll token; \
      otherwise it is the program's. The token is not renewed while the program runs: use --min-lifetime to get one that \
      lasts long enough.
      """, arguments: [variableName.argument] + WantedToken.arguments + [program.argument],
    groups: [ContextOptions.group], action: run)

  let place: PlaceOptions
  private let wanted: WantedToken
  private let variable: String
  private let words: [String]

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    wanted = WantedToken(values)
    variable = values[Self.variableName]
    words = values[Self.program]
    guard Self.isName(variable) else {
      throw UsageError("--variable must be letters, digits and _, and begin with no digit.")
    }
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.enumerated().allSatisfy { index, byte in
        byte == UInt8(ascii: "_") || ASCII.isLetter(byte) || index > 0 && ASCII.isDigit(byte)
      }
  }

  var resource: String? { wanted.resource }
  var request: CommandRequest { wanted.command(at: place).request }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let token = try wanted.command(at: place).require(session).token
    // Every renewal that was sent is stored before the other program replaces this process.
    session.finish()
    try OtherProgram.become(words, adding: [(variable, token.text)])
  }
}

struct Curl: EnrollCommand {
  private static let curlWords = Parameter.rest(
    "arguments", help: "After --: the arguments for curl.",
    whenMissing: "curl has nothing to do. Write its arguments behind two dashes: enroll curl -- URL.")

  static let command = Command(
    "curl", "Run curl with a valid access token.",
    discussion: """
      enroll curl -- -s https://api.example/me runs curl -s https://api.example/me, and curl sends the token in the \
      Authorization header (RFC 6750). The token appears on no command line. curl does not send it to other hosts on a \
      redirect, rejects http, and reads no .curlrc; only curl options that you pass yourself change that. Besides https, \
      imaps, pop3s and smtps are allowed. For an API without https on this machine, use enroll exec.
      """, arguments: WantedToken.arguments + [curlWords.argument], groups: [ContextOptions.group],
    action: run)

  let place: PlaceOptions
  private let wanted: WantedToken
  private let words: [String]

  init(_ values: Values) throws(UsageError) {
    place = try ContextOptions.read(values)
    wanted = WantedToken(values)
    words = values[Self.curlWords]
    if words.contains(where: { $0 == "--next" || $0 == "-:" }) {
      throw UsageError("curl forgets the token at --next: run enroll curl once for each request.")
    }
  }

  var resource: String? { wanted.resource }
  var request: CommandRequest { wanted.command(at: place).request }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let token = try wanted.command(at: place).require(session).token
    let configuration = try Self.configuration(token.text)
    session.finish()
    let descriptor = try OtherProgram.descriptor(containing: configuration)
    guard access("/dev/fd/\(descriptor)", R_OK) == 0 else {
      throw Failure(
        .failed, "curl cannot read the token: /dev/fd is missing, which needs /proc to be mounted",
        advice: "Mount /proc, or run another program with enroll exec.")
    }
    // --disable only works as the first word. Without it an old .curlrc could send the token elsewhere.
    try OtherProgram.become(["curl", "--disable", "--config", "/dev/fd/\(descriptor)"] + words)
  }

  /// The configuration in curl's syntax (curl(1)). A URL without a scheme uses https.
  static func configuration(_ token: String) throws(Failure) -> String {
    // A token has only the characters of b64token (RFC 6750 §2.1). Other characters could end the line of the
    // configuration.
    guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
      throw Failure(.refused, "the token has characters that no header takes (RFC 6750 §2.1)")
    }
    return "oauth2-bearer = \"\(token)\"\nproto = \"=https,imaps,pop3s,smtps\"\nproto-default = \"https\"\n"
  }
}
