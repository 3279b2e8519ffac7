// A directory in Okta's dialect: the Users API with an API token, and primary authentication without the token, as a
// browser would do. A correct password gives a `sessionToken`, which Okta's authorization endpoint accepts once instead
// of a session. The gateway sends all e-mails itself. This code was tested with a fake server of this dialect, never
// with Okta itself.

import EnrollRules
public import EnrollSteps
public import EnrollCrypto
import EnrollJSON

public final class OktaDirectory: Directory {
  private let http: DirectoryHTTP

  public let name = "okta"
  public var checksPasswords: Bool { true }

  /// - Parameters:
  ///   - base: the organization's URL, without a slash at its end.
  ///   - transport: its timeouts must suit a request that a user waits for.
  public init(
    base: String, transport: any Transport, credentials: DirectoryCredentials, clock: any Clock,
    makeLock: () -> any Lock
  ) {
    http = DirectoryHTTP(
      base: base, transport: transport, credentials: credentials, clock: clock, lock: makeLock())
  }

  public func person(with email: EmailAddress) throws(DirectoryFailure) -> DirectoryPerson? {
    let answer = try http.send(.init(method: .get, path: try path(email.key)))
    guard answer.isSuccess else {
      let refusal = OktaRefusal(answer)
      if refusal.isUnknown { return nil }
      throw refusal.failure(of: "search")
    }
    let user = try Self.user(answer)
    return user.has(email) ? try user.person() : nil
  }

  public func create(_ email: EmailAddress, name: String?) throws(DirectoryFailure) -> DirectoryPerson {
    if let person = try person(with: email) { return person }
    let profile = JSON.object([
      ("login", .string(email.key)), ("email", .string(email.text)),
      ("displayName", name.map { .string($0) }),
    ])
    let answer = try http.send(
      .init(
        method: .post, path: "/api/v1/users", query: [("activate", "false")],
        body: .object([("profile", profile)])))
    if answer.isSuccess { return try Self.user(answer).person() }
    let refusal = OktaRefusal(answer)
    // If the address is taken, a concurrent call may have created the user.
    if refusal.isTaken, let person = try person(with: email) { return person }
    throw refusal.failure(of: "create")
  }

  public func activate(_ id: String) throws(DirectoryFailure) {
    switch try state(of: id) {
    case .active, .locked: return
    case .suspended: throw .refused("the directory has the person suspended")
    case .staged: break
    }
    let answer = try http.send(
      .init(
        method: .post, path: try path(id) + "/lifecycle/activate", query: [("sendEmail", "false")]))
    let refusal = OktaRefusal(answer)
    // The user may be PROVISIONED already: only the password is missing.
    guard answer.isSuccess || refusal.isActive else { throw refusal.failure(of: "activate") }
  }

  public func setPassword(_ password: Secret, of id: String) throws(DirectoryFailure) {
    let credentials = JSON.object([
      ("password", .object([("value", .string(password.reveal()))]))
    ])
    let answer = try http.send(
      .init(method: .post, path: try path(id), body: .object([("credentials", credentials)])))
    guard answer.isSuccess else { throw OktaRefusal(answer).failure(of: "set the password") }
  }

  public func check(_ password: Secret, of email: EmailAddress) throws(DirectoryFailure) -> PasswordCheck {
    let answer = try http.send(
      .init(
        method: .post, path: "/api/v1/authn",
        body: .object([
          ("username", .string(email.key)), ("password", .string(password.reveal())),
          (
            "options",
            .object([
              ("multiOptionalFactorEnroll", .bool(false)), ("warnBeforePasswordExpired", .bool(false)),
            ])
          ),
        ]), isAuthorized: false))
    guard answer.isSuccess else {
      let refusal = OktaRefusal(answer)
      if refusal.isWrongPassword { return .rejected }
      throw refusal.failure(of: "check a password")
    }
    return try OktaSignIn(answer.json, email).result()
  }

  public func state(of id: String) throws(DirectoryFailure) -> DirectoryPerson.State {
    let answer = try http.send(.init(method: .get, path: try path(id)))
    guard answer.isSuccess else { throw OktaRefusal(answer).failure(of: "read") }
    let user = try Self.user(answer)
    guard ASCII.equals(user.id, id) else {
      throw .fault("the directory answers with another user than the one that was asked for")
    }
    return try user.person().state
  }

  public func probe() throws(DirectoryFailure) {
    guard let nobody = try? EmailAddress("enroll-gateway-check@nobody.invalid") else { return }
    _ = try person(with: nobody)
  }

  private func path(_ loginOrID: String) throws(DirectoryFailure) -> String {
    // Okta reads `me` as the user who owns the API token.
    guard let segment = DirectoryHTTP.segment(loginOrID), !ASCII.equals(loginOrID, "me") else {
      throw .unknownPerson
    }
    return "/api/v1/users/" + segment
  }

  private static func user(_ answer: DirectoryHTTP.Answer) throws(DirectoryFailure) -> OktaUser {
    guard let user = answer.json.flatMap({ OktaUser($0) }) else {
      throw .fault("the directory's answer is no user: id or profile.login is missing")
    }
    return user
  }
}
