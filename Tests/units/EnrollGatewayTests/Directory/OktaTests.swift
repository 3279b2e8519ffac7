// A directory in Okta's dialect: the requests that it gets, and the results of its answers.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("a directory in Okta's dialect")
struct OktaTests {
  static func user(
    _ status: String = "ACTIVE", id: String = "00u1", login: String = "ada@example.org"
  ) -> String {
    """
    {"id": "\(id)", "status": "\(status)", "profile": {"login": "\(login)", "email": "\(login)",
     "firstName": "Ada", "lastName": null}, "credentials": {"password": {}}}
    """
  }

  static func refusal(_ code: String, _ causes: [String] = [], status: Int = 400) -> DirectoryDouble.Reply {
    let list = causes.map { #"{"errorSummary": "\#($0)"}"# }.joined(separator: ", ")
    return .json(
      #"{"errorCode": "\#(code)", "errorSummary": "my secret", "errorCauses": [\#(list)]}"#, status)
  }

  static let unknown = refusal("E0000007", status: 404)

  @Test("a person is found by the whole login, with the token in Okta's own scheme")
  func finding() throws {
    let double = DirectoryDouble([.json(Self.user(login: "a'b+c%41/d@example.org"))])
    let person = try double.okta().person(with: try address("A'b+c%41/d@Example.org"))
    expect(
      person,
      is: DirectoryPerson(
        id: "00u1", email: "a'b+c%41/d@example.org", name: "Ada", state: .active, hasPassword: true))
    expect(double.asked, is: ["GET /api/v1/users/a%27b%2Bc%2541%2Fd%40example.org"])
    expect(double.header("Authorization", 0), is: "SSWS the-token")
    try expect(DirectoryDouble([Self.unknown]).okta().person(with: try address("ada@example.org")), is: nil)
  }

  @Test("a person whom Okta finds by the beginning of the login is another person")
  func shortName() throws {
    let double = DirectoryDouble([.json(Self.user(login: "ada@example.org.test"))])
    try expect(double.okta().person(with: try address("ada@example.org")), is: nil)
  }

  @Test(
    "states of Okta",
    arguments: [
      ("STAGED", DirectoryPerson.State.staged), ("PROVISIONED", .staged), ("ACTIVE", .active),
      ("RECOVERY", .active), ("PASSWORD_EXPIRED", .active), ("LOCKED_OUT", .locked),
      ("SUSPENDED", .suspended), ("DEPROVISIONED", .suspended),
    ])
  func states(status: String, state: DirectoryPerson.State) throws {
    try expect(DirectoryDouble([.json(Self.user(status))]).okta().state(of: "00u1"), is: state)
  }

  @Test("a state that Okta does not have is a fault, and so is the id of another user")
  func otherStates() {
    for reply in [Self.user("HAPPY"), Self.user(id: "00u2"), "{}", "[]"] {
      let told = failure { () throws(DirectoryFailure) in
        try DirectoryDouble([.json(reply)]).okta().state(of: "00u1")
      }
      expect(told?.kind, is: "fault")
    }
    expect(
      failure { () throws(DirectoryFailure) in try DirectoryDouble([]).okta().state(of: "me") },
      is: .unknownPerson)
  }

  @Test("a person is made without activation, and Okta sends no mail")
  func creation() throws {
    let double = DirectoryDouble([
      Self.unknown, .json(Self.user("STAGED")), .json(Self.user("STAGED")),
      .json(#"{"activationToken": "XE6wE17zmphl3KqAPFxO"}"#), .json(Self.user("ACTIVE")),
    ])
    let directory = double.okta()
    let person = try directory.create(try address("Ada@example.org"), name: nil)
    expect(person.state, is: .staged)
    try directory.activate(person.id)
    try directory.setPassword(Secret("a long password"), of: person.id)
    expect(
      double.asked,
      is: [
        "GET /api/v1/users/ada%40example.org", "POST /api/v1/users?activate=false",
        "GET /api/v1/users/00u1", "POST /api/v1/users/00u1/lifecycle/activate?sendEmail=false",
        "POST /api/v1/users/00u1",
      ])
    try expect(
      double.json(1),
      is: .object([
        (
          "profile",
          .object([("login", .string("ada@example.org")), ("email", .string("Ada@example.org"))])
        )
      ]))
    try expect(double.json(4)["credentials"]?["password"]?["value"]?.string, is: "a long password")
  }

  @Test("an address that somebody else took meanwhile is found")
  func takenAddress() throws {
    let taken = Self.refusal(
      "E0000001", ["login: An object with this field already exists in the current organization"])
    let double = DirectoryDouble([Self.unknown, taken, .json(Self.user())])
    try expect(double.okta().create(try address("ada@example.org"), name: nil).id, is: "00u1")
    let names = DirectoryDouble([
      Self.unknown, Self.refusal("E0000001", ["firstName: The field cannot be left blank"]),
    ])
    let ada = try address("ada@example.org")
    let told = failure { () throws(DirectoryFailure) in try names.okta().create(ada, name: nil) }
    expect(told?.kind, is: "unsupported")
  }

  @Test("somebody whom Okta has activated needs a password only; somebody suspended gets no activation")
  func activation() throws {
    let double = DirectoryDouble([.json(Self.user("PROVISIONED")), Self.refusal("E0000016", status: 403)])
    try double.okta().activate("00u1")
    let active = DirectoryDouble([.json(Self.user())])
    try active.okta().activate("00u1")
    let suspended = DirectoryDouble([.json(Self.user("DEPROVISIONED"))])
    expect(
      failure { () throws(DirectoryFailure) in try suspended.okta().activate("00u1") }?.kind, is: "refused")
    expect(suspended.requests.count, is: 1)
  }

  @Test(
    "a refusal is told by its code, without Okta's words",
    arguments: [
      (refusal("E0000080", status: 403), "invalidPassword"),
      (refusal("E0000014", status: 403), "invalidPassword"),
      (refusal("E0000001", ["password: Password requirements were not met. my secret"]), "invalidPassword"),
      (refusal("E0000001", ["login: my secret"]), "fault"), (refusal("E0000006", status: 403), "refused"),
      (refusal("E0000011", status: 401), "refused"), (unknown, "unknownPerson"),
      (refusal("<script>"), "fault"), (.json("<html>", 403), "refused"), (.json("<html>"), "fault"),
      (.status(302), "fault"), (.status(500), "unavailable"),
      (refusal("E0000009", status: 500), "unavailable"),
    ])
  func refusals(_ reply: DirectoryDouble.Reply, kind: String) {
    let told = failure { () throws(DirectoryFailure) in
      try DirectoryDouble([reply]).okta().setPassword(Secret("my secret"), of: "00u1")
    }
    expect(told?.kind, is: kind, "\(told?.message ?? "nothing")")
    expect(told?.message.contains("my secret"), is: false)
    expect(told?.message.contains("script"), isNot: true)
  }

  static func signIn(_ status: String, _ more: String = "") -> DirectoryDouble.Reply {
    .json(
      #"{"status": "\#(status)"\#(more), "_embedded": {"user": {"id": "00u1", "profile": {"login": "ada@example.org"}}}}"#
    )
  }

  @Test("a right password brings a session token; the request carries no token of the gateway")
  func rightPassword() throws {
    let double = DirectoryDouble([Self.signIn("SUCCESS", #", "sessionToken": "20111ZTiraxru""#)])
    let result = try double.okta().check(Secret("pass"), of: try address("Ada@example.org"))
    let ada = DirectoryPerson(id: "00u1", email: "ada@example.org", state: .active, hasPassword: true)
    expect(result, is: .accepted(ada, session: Secret("20111ZTiraxru")))
    expect(double.asked, is: ["POST /api/v1/authn"])
    expect(double.header("Authorization", 0), is: nil)
    try expect(double.json(0)["username"]?.string, is: "ada@example.org")
  }

  @Test(
    "only SUCCESS signs anybody in",
    arguments: [
      (signIn("LOCKED_OUT"), PasswordCheck.locked), (signIn("PASSWORD_EXPIRED"), .expired),
      (signIn("MFA_REQUIRED", #", "stateToken": "x""#), .incomplete), (signIn("MFA_ENROLL"), .incomplete),
      (signIn("PASSWORD_WARN"), .incomplete), (refusal("E0000004", status: 401), .rejected),
    ])
  func otherStates(_ reply: DirectoryDouble.Reply, result: PasswordCheck) throws {
    try expect(
      DirectoryDouble([reply]).okta().check(Secret("pass"), of: try address("ada@example.org")), is: result)
  }

  @Test("a success without a token, or of somebody else, is a fault")
  func wrongSuccess() throws {
    let ada = try address("ada@example.org")
    for reply in [
      Self.signIn("SUCCESS"), Self.signIn("SUCCESS", #", "sessionToken": "a b""#), Self.signIn("WHO_KNOWS"),
      .json(
        #"{"status": "SUCCESS", "sessionToken": "x", "_embedded": {"user": {"id": "2", "profile": {"login": "eve@example.org"}}}}"#
      ), .json(#"{"status": "SUCCESS", "sessionToken": "x"}"#),
    ] {
      let told = failure { () throws(DirectoryFailure) in
        try DirectoryDouble([reply]).okta().check(Secret("p"), of: ada)
      }
      expect(told?.kind, is: "fault")
    }
  }

  @Test("Okta's rate limit ends at the time that it tells; a limit on passwords stops nothing else")
  func limits() throws {
    let ada = try address("ada@example.org")
    let date = HTTPHeader("Date", "Tue, 24 Nov 2026 14:00:00 GMT")
    let reset = HTTPHeader("X-Rate-Limit-Reset", "1795528830")
    let double = DirectoryDouble([
      .status(429, [date, reset]), .status(429, [date, reset]), Self.signIn("LOCKED_OUT"), Self.unknown,
    ])
    let directory = double.okta()
    let check = failure { () throws(DirectoryFailure) in try directory.check(Secret("p"), of: ada) }
    expect(check, is: .unavailable("the directory answers 429, and wants no requests for 30 s"))
    expect(
      failure { () throws(DirectoryFailure) in try directory.person(with: ada) }?.kind, is: "unavailable")
    expect(
      failure { () throws(DirectoryFailure) in try directory.person(with: ada) }?.kind, is: "unavailable")
    expect(double.requests.count, is: 2)
    try expect(directory.check(Secret("p"), of: ada), is: .locked)
    double.clock.advance(seconds: 30)
    try expect(directory.person(with: ada), is: nil)
  }
}
