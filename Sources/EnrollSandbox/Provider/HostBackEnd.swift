// The host's own back end, as back-end.md describes it: it checks registrations, and receives confirmed profiles and
// reports of failures. It accepts only JSON objects, and requires a valid access token where back-end.md demands one.

public import EnrollJSON

/// A request that the back end keeps for tests.
public struct ReceivedMessage: Sendable, Equatable {
  public var endpoint: Endpoint
  /// The user to whom the request's access token belongs.
  public var user: String?
  public var body: JSON
}

extension Provider {
  static let messageLimit = 1000

  /// Answers `{"sub": …, "email": …}` for the token's user, or `{"unknownAccount": true}` if the test made the user unknown.
  func checkRegistration(_ http: SandboxRequest) -> SandboxAnswer {
    guard let user = bearerOf(http) else { return unauthorized() }
    guard let body = message(http) else { return Self.notAnObject }
    guard body["installationId"]?.string?.isEmpty == false, body["platform"]?.object != nil else {
      return Self.refusal("installationId and platform are needed")
    }
    keep(ReceivedMessage(endpoint: .registrationCheck, user: user.name, body: body))
    if unknownUsers.contains(user.name) { return .json(.object([("unknownAccount", .bool(true))])) }
    return .json(.object([("sub", .string(user.subject)), ("email", .string(user.email))]))
  }

  func updateProfile(_ http: SandboxRequest) -> SandboxAnswer {
    guard let user = bearerOf(http) else { return unauthorized() }
    guard let body = message(http) else { return Self.notAnObject }
    guard body["profile"]?["sub"] == .string(user.subject) else {
      return Self.refusal("profile must be the token's user's", status: 422)
    }
    keep(ReceivedMessage(endpoint: .profileUpdate, user: user.name, body: body))
    return SandboxAnswer(status: 204, headers: [("Cache-Control", "no-store")])
  }

  func reportError(_ http: SandboxRequest) -> SandboxAnswer {
    guard let body = message(http), body["code"]?.string != nil, body["messageKey"]?.string != nil else {
      return Self.refusal("code and messageKey are needed")
    }
    keep(ReceivedMessage(endpoint: .errorReport, user: nil, body: body))
    return SandboxAnswer(status: 204, headers: [("Cache-Control", "no-store")])
  }

  private func keep(_ message: ReceivedMessage) {
    if messages.count >= Self.messageLimit { messages.removeFirst(Self.messageLimit / 2) }
    messages.append(message)
  }

  private func bearerOf(_ http: SandboxRequest) -> User? {
    http.bearer.flatMap { grants.grant(ofAccessToken: $0, now: now) }.flatMap { user($0.userName) }
  }

  private func message(_ http: SandboxRequest) -> JSON? {
    guard http.headers["content-type"]?.lowercased().hasPrefix("application/json") == true,
      let body = try? JSON.parse(http.body), body.object != nil
    else { return nil }
    return body
  }

  private func unauthorized() -> SandboxAnswer {
    var answer = SandboxAnswer.json(.object([("error", .string("invalid_token"))]), status: 401)
    answer.setHeader("WWW-Authenticate", "Bearer error=\"invalid_token\"")
    return answer
  }

  private static var notAnObject: SandboxAnswer { refusal("the body must be a JSON object") }

  private static func refusal(_ text: String, status: Int = 400) -> SandboxAnswer {
    .json(
      .object([("error", .string("invalid_request")), ("error_description", .string(text))]), status: status)
  }
}
