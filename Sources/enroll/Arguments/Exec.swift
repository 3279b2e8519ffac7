// Programs that get a token: any program, by its environment, and curl, by a configuration that it reads from a descriptor.

import ArgumentParser

struct Exec: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a program with a valid access token in its environment.",
    discussion: """
      enroll exec -- deploy --all runs deploy --all with the token in ACCESS_TOKEN. Only this program and the programs that \
      it starts get the variable. Without a token the program does not start, and the exit status is that of enroll token; \
      otherwise it is the program's. The token is not renewed while the program runs: use --min-lifetime to get one that \
      lasts long enough.
      """)

  @Option(help: ArgumentHelp("The name of the environment variable.", valueName: "name"))
  var variable = "ACCESS_TOKEN"

  @OptionGroup var wanted: WantedToken
  @OptionGroup(title: "Context") var place: ContextOptions

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("After --: the program and its arguments.", valueName: "command"))
  var words: [String] = []

  func validate() throws {
    if words.isEmpty {
      throw ValidationError("No program is named. Write it behind two dashes: enroll exec -- COMMAND.")
    }
    let isName = variable.utf8.enumerated().allSatisfy { index, byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
        true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
      default: false
      }
    }
    guard isName, !variable.isEmpty else {
      throw ValidationError("--variable must be letters, digits and _, and begin with no digit.")
    }
  }

  var resource: String? { wanted.resource }
  var request: CommandRequest { wanted.command(at: place).request }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let token = try wanted.command(at: place).require(session).token
    // What was begun is stored before this process is another program.
    session.finish()
    try OtherProgram.become(words, adding: [(variable, token.text)])
  }
}

struct Curl: EnrollCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run curl with a valid access token.",
    discussion: """
      enroll curl -- -s https://api.example/me runs curl -s https://api.example/me, and curl sends the token in the \
      Authorization header (RFC 6750). The token appears on no command line. curl does not send it to other hosts on a \
      redirect, rejects http, and reads no .curlrc; only curl options that you pass yourself change that. For an API \
      without https on this machine, use enroll exec.
      """)

  @OptionGroup var wanted: WantedToken
  @OptionGroup(title: "Context") var place: ContextOptions

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("After --: the arguments for curl.", valueName: "arguments"))
  var words: [String] = []

  func validate() throws {
    if words.isEmpty {
      throw ValidationError(
        "curl has nothing to do. Write its arguments behind two dashes: enroll curl -- URL.")
    }
    if words.contains(where: { $0 == "--next" || $0 == "-:" }) {
      throw ValidationError("curl forgets the token at --next: run enroll curl once for each request.")
    }
  }

  var resource: String? { wanted.resource }
  var request: CommandRequest { wanted.command(at: place).request }

  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus {
    let token = try wanted.command(at: place).require(session).token
    let configuration = try Self.configuration(token.text)
    session.finish()
    let descriptor = try OtherProgram.descriptor(containing: configuration)
    // --disable counts as the first word alone: an old .curlrc must not send the token anywhere.
    try OtherProgram.become(["curl", "--disable", "--config", "/dev/fd/\(descriptor)"] + words)
  }

  /// As curl(1) reads it. An address without a scheme is one with https.
  static func configuration(_ token: String) throws(Failure) -> String {
    // RFC 6750 §2.1: b64token. Anything else could end the line that it stands on.
    guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
      throw Failure(.refused, "the token has characters that no header takes (RFC 6750 §2.1)")
    }
    return "oauth2-bearer = \"\(token)\"\nproto = \"=https\"\nproto-default = \"https\"\n"
  }
}
