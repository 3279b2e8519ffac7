// The credential provider of Cargo (the Cargo Book, "Credential Provider Protocol"). Cargo starts the program with
// the single argument `--cargo-plugin`. The other arguments in Cargo's configuration are part of the request.

import EnrollArguments
import EnrollJSON

extension CredentialFormat {
  static let cargo = CredentialFormat(
    name: "cargo", programs: "Cargo",
    setup: """
      In ~/.cargo/config.toml:

        [registries.example]
        index = "sparse+https://cargo.example/index/"
        credential-provider = ["enroll", "credential", "cargo", "--host", "cargo.example"]

      enroll setup cargo cargo.example writes the last line. "cargo-credential-enroll", a link to enroll, needs no arguments for \
      the hosts that the profile names in credentialHosts.
      """,
    alias: "cargo-credential-enroll",
    arguments: [
      Parameter.flag(CargoRequest.flagName, help: "Cargo adds it.").argument
    ], hasUsername: false
  ) { _ in
    let request: CargoRequest
    if let first = CargoRequest.first {
      request = first
    } else {
      CargoRequest.greet()
      request = CargoRequest(CredentialInput.line())
    }
    return request.question
  }
}

struct CargoRequest {
  static let flagName = "cargo-plugin"
  /// The request of a process that Cargo started with ``flagName`` as the only argument. Written once, before the first
  /// thread.
  nonisolated(unsafe) private(set) static var first: CargoRequest?

  /// The request; nil if the line is not JSON.
  private let json: JSON?

  init(_ line: [UInt8]) { json = try? JSON.parse(line) }

  /// Prints the versions of the protocol. The program does this before it reads the request.
  static func greet() { Output.line(#"{"v":[1]}"#) }

  /// Reads the request before the command line is known, because the request contains the command line.
  /// - Returns: the words of the command line; nil if Cargo did not start the program with ``flagName`` as the only
  ///   argument.
  static func words(_ given: [String]) -> [String]? {
    guard given == ["--" + flagName] else { return nil }
    greet()
    let request = CargoRequest(CredentialInput.line())
    first = request
    let words = request.json?["args"]?.array?.compactMap { $0.string } ?? []
    // Cargo's configuration cannot start any other command.
    let own = ["credential", CredentialFormat.cargo.name]
    return own + (words.starts(with: own) ? words.dropFirst(own.count) : words[...])
  }

  /// The answer to a command line that was refused.
  static func refusal(_ message: String) -> String { error("other", message) }

  var question: CredentialQuestion {
    guard json?["v"]?.integer == 1, let kind = json?["kind"]?.string else {
      return Self.nothing(Self.error("other", "expected a request of version 1"))
    }
    guard kind == "get" else { return Self.nothing(Self.error("operation-not-supported")) }
    var question = CredentialQuestion(
      wish: .token, target: target, answer: Self.answer,
      nothing: CredentialAnswer(output: Self.error("not-found")),
      failed: { Self.error("other", Shown.message($0.message)) })
    question.failsInWords = true
    return question
  }

  private static func nothing(_ output: String) -> CredentialQuestion {
    CredentialQuestion(wish: .none, nothing: CredentialAnswer(output: output))
  }

  private var target: CredentialTarget? {
    json?["registry"]?["index-url"]?.string.flatMap { Self.target($0) }
  }

  /// The host of a registry's index.
  static func target(_ index: String) -> CredentialTarget? {
    var url = index
    for prefix in ["sparse+", "registry+"] where url.hasPrefix(prefix) { url.removeFirst(prefix.count) }
    return CredentialTarget(url: url)
  }

  private static func answer(_ token: BearerToken, _ username: String) -> String {
    let members: [(String, JSON?)] = [
      ("kind", .string("get")), ("token", .string("Bearer \(token.text)")),
      ("cache", .string(token.askAgainAt == nil ? "session" : "expires")),
      ("expiration", token.askAgainAt.map { .integer($0) }), ("operation_independent", .bool(true)),
    ]
    return JSON.object([("Ok", .object(members))]).text + "\n"
  }

  private static func error(_ kind: String, _ message: String? = nil) -> String {
    let members: [(String, JSON?)] = [
      ("kind", .string(kind)), ("message", message.map { .string($0) }),
      ("caused-by", message == nil ? nil : .array([])),
    ]
    return JSON.object([("Err", .object(members))]).text + "\n"
  }
}
