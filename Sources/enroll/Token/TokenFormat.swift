// The output of `enroll token`: only the token, or a document in the form that another program expects. The help, the
// manual and docs/other-programs.md get their texts from this table.

import EnrollJSON

enum TokenFormat: String, CaseIterable {
  case text, header, bearer, headers, google, kubernetes, aws, env

  /// What the format prints, and for which programs.
  var summary: String {
    switch self {
    case .text: "only the token"
    case .header: "Authorization: Bearer and the token"
    case .bearer: "Bearer and the token, for pnpm 10"
    case .headers: "one JSON object of headers, for MCP clients"
    case .google: "the id_token for Google's client libraries, as executable-sourced credentials"
    case .kubernetes: "the ExecCredential that kubectl reads"
    case .aws: "temporary credentials of AWS for the id_token, with --role, as credential_process"
    case .env: "variables for eval in a shell"
    }
  }

  static let list = allCases.map { "\($0.rawValue) (\($0.summary))" }.joined(separator: ", ")

  /// Whether the program that reads this format always wants the id_token.
  var isForIDToken: Bool { self == .google || self == .aws }

  /// Whether the program that reads this format treats standard error as a part of the answer.
  var readsErrors: Bool { self == .google }

  func words(_ token: BearerToken, isIDToken: Bool, _ environment: Environment = .process) -> String {
    switch self {
    case .text: token.text
    case .header: "Authorization: Bearer \(token.text)"
    case .bearer: "Bearer \(token.text)"
    case .headers: JSON.object([("Authorization", .string("Bearer \(token.text)"))]).text
    case .google: Self.google(token).text
    // The document for AWS needs a request, which AWSCredentials.swift sends. Here the output is only the token.
    case .aws: token.text
    case .kubernetes: Self.execCredential(token, environment).text
    case .env: Self.variables(token, isIDToken ? "ID_TOKEN" : "ACCESS_TOKEN")
    }
  }

  /// The text on standard output if there is no token; nil for no text.
  func words(for failure: Failure) -> String? {
    guard self == .google else { return nil }
    return JSON.object([
      ("version", .integer(1)), ("success", .bool(false)), ("code", .string("\(failure.ending.rawValue)")),
      ("message", .string(Shown.message(failure.message))),
    ]).text
  }

  /// The response that Google's libraries expect from an executable (AIP-4117).
  private static func google(_ token: BearerToken) -> JSON {
    .object([
      ("version", .integer(1)), ("success", .bool(true)),
      ("token_type", .string("urn:ietf:params:oauth:token-type:id_token")),
      ("id_token", .string(token.text)), ("expiration_time", token.expiresAt.map { .integer($0) }),
    ])
  }

  private static func variables(_ token: BearerToken, _ name: String) -> String {
    (["export \(name)=\(ShellWord.quoted(token.text))"]
      + (token.expiresAt.map { ["export \(name)_EXPIRES=\($0)"] } ?? [])).joined(separator: "\n")
  }

  private static let group = "client.authentication.k8s.io/"

  /// An ExecCredential, in the version that kubectl names in KUBERNETES_EXEC_INFO.
  private static func execCredential(_ token: BearerToken, _ environment: Environment) -> JSON {
    let asked = environment["KUBERNETES_EXEC_INFO"].flatMap { try? JSON.parse(Array($0.utf8)) }
    let version = asked?["apiVersion"]?.string
    return .object([
      ("apiVersion", .string(version.flatMap { $0.hasPrefix(group) ? $0 : nil } ?? group + "v1")),
      ("kind", .string("ExecCredential")),
      (
        "status",
        .object([
          ("token", .string(token.text)),
          ("expirationTimestamp", token.askAgainAt.map { .string(InternetDate.text($0)) }),
        ])
      ),
    ])
  }
}
