// Tests of a directory that the gateway reaches by SCIM: the requests that the directory gets, and the results of its
// answers.

import EnrollRules
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("a directory by SCIM")
struct SCIMTests {
  /// - Parameter meta: `new` for a user that was never changed since it was created; `old` for a user that was changed.
  static func user(
    _ id: String = "7", userName: String = "ada@example.org", email: String = "ada@example.org",
    active: String = "true", meta: String = "old"
  ) -> String {
    let modified = meta == "new" ? "2026-01-01T00:00:00Z" : "2026-02-01T00:00:00Z"
    return """
      {"id": "\(id)", "userName": "\(userName)", "emails": [{"value": "\(email)"}], "active": \(active),
       "meta": {"created": "2026-01-01T00:00:00Z", "lastModified": "\(modified)", "version": "W/\\"v\(id)\\""}}
      """
  }

  static func list(_ users: [String], total: Int? = nil) -> DirectoryDouble.Reply {
    .json("{\"totalResults\": \(total ?? users.count), \"Resources\": [\(users.joined(separator: ", "))]}")
  }

  static let nobody = DirectoryDouble.Reply.json(#"{"totalResults": 0}"#)

  @Test("no address is a part of the filter's grammar")
  func filters() throws {
    let attack = try address(#"a'b+%22or%22{1}=1@example.org"#)
    expect(SCIMLookup.userName.filter(attack), is: #"userName eq "a'b+%22or%22{1}=1@example.org""#)
    expect(
      SCIMLookup.emails.filter(try address("Ada@Example.org")), is: #"emails.value eq "ada@example.org""#)
    for text in [
      #"a"b@example.org"#, #"a\b@example.org"#, #""a b"@example.org"#, "a) or (b@example.org", "ä@x.org",
    ] {
      #expect(throws: EmailAddress.Refusal.self) { try EmailAddress(text) }
    }
    let double = DirectoryDouble([Self.nobody])
    try expect(double.scim().person(with: attack), is: nil)
    let query = "filter=userName%20eq%20%22a%27b%2B%2522or%2522%7B1%7D%3D1%40example.org%22"
    expect(double.asked, is: ["GET /Users?" + query])
    expect(double.header("Authorization", 0), is: "Bearer the-token")
    expect(double.header("Accept", 0), is: "application/scim+json")
  }

  @Test("a person is looked up by each attribute of the settings, in order")
  func lookups() throws {
    let double = DirectoryDouble([
      Self.nobody, Self.list([Self.user(userName: "ada", email: "Ada@Example.org")]),
    ])
    let person = try double.scim([.userName, .emails]).person(with: try address("ada@example.org"))
    expect(person, is: DirectoryPerson(id: "7", email: "Ada@Example.org", state: .active, hasPassword: true))
    expect(double.asked.count, is: 2)
  }

  @Test(
    "a directory that ignores the filter is read page by page, and whoever has another address is not found"
  )
  func ignoredFilter() throws {
    let others = (1...3).map { Self.user("\($0)", userName: "u\($0)", email: "u\($0)@example.org") }
    let double = DirectoryDouble([
      Self.list(Array(others[..<2]), total: 4), Self.list([others[2], Self.user("9")], total: 4),
    ])
    try expect(double.scim().person(with: try address("ada@example.org"))?.id, is: "9")
    #expect(double.asked[1].hasSuffix("&startIndex=3"))
    try expect(
      DirectoryDouble([Self.list(others)]).scim().person(with: try address("ada@example.org")), is: nil)
  }

  @Test(
    "a list that cannot be read to its end is a failure, and never nobody",
    arguments: [
      ([list(["{\"userName\": \"x\"}"])], "without an id"),
      ([list([user("1", userName: "x")], total: 2), list([user("1", userName: "x")], total: 2)], "twice"),
      ([list([user("1", userName: "x")], total: 2), list([], total: 2)], "announces 2"),
      ([.json("{}")], "totalResults"), ([.json("[]")], "totalResults"), ([.json("")], "totalResults"),
      ([list([user("1", userName: "x")], total: 20_001)], "ignores the filter"),
      ([list([user("1"), user("2")])], "2 users"),
    ])
  func surprisingLists(_ replies: [DirectoryDouble.Reply], words: String) throws {
    let ada = try address("ada@example.org")
    let told = failure { () throws(DirectoryFailure) in
      try DirectoryDouble(replies).scim().person(with: ada)
    }
    expect(told?.kind, is: "fault")
    expect(told?.message.contains(words), is: true, "\(told?.message ?? "nothing")")
  }

  @Test("a person who is made is inactive, and has the words of the address as a name")
  func creation() throws {
    let double = DirectoryDouble([Self.nobody, .json(Self.user(active: "false"), 201)])
    let person = try double.scim().create(try address("Ada@Example.org"), name: nil)
    expect(person.state, is: .staged)
    expect(person.id, is: "7")
    let body = try double.json(1)
    expect(body["userName"]?.string, is: "ada@example.org")
    expect(body["emails"]?.array?.first?["value"]?.string, is: "Ada@Example.org")
    expect(body["active"], is: .bool(false))
    expect(body["name"]?["familyName"]?.string, is: "Ada")
    expect(body["password"], is: nil)
    expect(double.header("Content-Type", 1), is: "application/scim+json")
  }

  @Test("an address that somebody else took meanwhile is found; two people never have it")
  func takenAddress() throws {
    let taken = DirectoryDouble.Reply.json(#"{"scimType": "uniqueness", "status": "409"}"#, 409)
    let double = DirectoryDouble([Self.nobody, taken, Self.list([Self.user()])])
    try expect(double.scim().create(try address("ada@example.org"), name: nil).id, is: "7")
    let never = DirectoryDouble([Self.nobody, taken, Self.nobody])
    let ada = try address("ada@example.org")
    let told = failure { () throws(DirectoryFailure) in try never.scim().create(ada, name: nil) }
    expect(told, is: .fault("the directory refuses to create (409, uniqueness)"))
  }

  @Test(
    "an inactive user whom nobody changed since it was made was never activated; every other one is suspended",
    arguments: [
      ("true", "old", DirectoryPerson.State.active), ("true", "new", .active), ("false", "new", .staged),
      ("false", "old", .suspended), ("\"False\"", "old", .suspended), ("null", "old", .active),
    ])
  func states(active: String, meta: String, state: DirectoryPerson.State) throws {
    let double = DirectoryDouble([.json(Self.user(active: active, meta: meta))])
    try expect(double.scim().state(of: "7"), is: state)
  }

  @Test(
    "the second of two who register at once finds the person of the first, whatever the directory answers")
  func atOnce() throws {
    let ada = try address("ada@example.org")
    let double = DirectoryDouble([
      Self.nobody, .json("<html>", 500), Self.list([Self.user(active: "false", meta: "new")]),
    ])
    try expect(double.scim().create(ada, name: nil).state, is: .staged)
    let broken = DirectoryDouble([Self.nobody, .json("<html>", 500), Self.nobody])
    let told = failure { () throws(DirectoryFailure) in try broken.scim().create(ada, name: nil) }
    expect(told, is: .unavailable("the directory answers 500"))
  }

  @Test(
    "times of a resource",
    arguments: [
      ("1970-01-01T00:00:00Z", 0 as Int64?), ("2026-11-24T14:20:13.5Z", 1_795_530_013),
      ("2000-02-29T23:59:59Z", 951_868_799), ("2026-11-24T14:20:13+01:00", nil), ("yesterday", nil),
      ("2026-13-24T14:20:13Z", nil), ("2026-1x-24T14:20:13Z", nil), ("", nil),
    ])
  func times(text: String, seconds: Int64?) { expect(SCIMTime.seconds(text), is: seconds) }

  @Test("a second that ends between both times of a new user changes nothing")
  func secondsEnd() throws {
    func state(_ modified: String) throws -> DirectoryPerson.State {
      let text =
        #"{"id": "7", "active": false, "meta": {"created": "2026-01-01T00:00:59Z", "lastModified": "\#(modified)"}}"#
      return try DirectoryDouble([.json(text)]).scim().state(of: "7")
    }
    try expect(state("2026-01-01T00:01:00Z"), is: .staged)
    try expect(state("2026-01-01T00:01:01Z"), is: .suspended)
    try expect(state("later"), is: .suspended)
  }

  @Test("activation and password are PATCH requests under the version that was read")
  func changes() throws {
    let double = DirectoryDouble([
      .json(Self.user(active: "false", meta: "new")), .status(204),
      .json(Self.user()), .json(Self.user()),
    ])
    let directory = double.scim()
    try directory.activate("7")
    try directory.setPassword(Secret("correct horse \"battery\""), of: "7")
    expect(double.asked, is: ["GET /Users/7", "PATCH /Users/7", "GET /Users/7", "PATCH /Users/7"])
    expect(double.header("If-Match", 1), is: "W/\"v7\"")
    let operations = try double.json(1)["Operations"]?.array ?? []
    expect(
      operations,
      is: [
        .object([("op", .string("replace")), ("path", .string("active")), ("value", .bool(true))])
      ])
    try expect(double.json(3)["Operations"]?.array?.first?["value"]?.string, is: "correct horse \"battery\"")
    try expect(
      double.json(3)["schemas"]?.array, is: [.string("urn:ietf:params:scim:api:messages:2.0:PatchOp")])
  }

  @Test("somebody who is active needs no activation, and somebody who is suspended gets none")
  func activation() throws {
    let double = DirectoryDouble([.json(Self.user())])
    try double.scim().activate("7")
    expect(double.requests.count, is: 1)
    let suspended = DirectoryDouble([.json(Self.user(active: "false"))])
    let told = failure { () throws(DirectoryFailure) in try suspended.scim().activate("7") }
    expect(told?.kind, is: "refused")
    expect(suspended.requests.count, is: 1)
  }

  @Test("a user whom somebody else changes meanwhile (412) is read once more, and no third time")
  func versions() throws {
    let changed = DirectoryDouble.Reply.json(#"{"status": "412"}"#, 412)
    let once = DirectoryDouble([.json(Self.user()), changed, .json(Self.user()), .status(204)])
    try once.scim().setPassword(Secret("a new password"), of: "7")
    let twice = DirectoryDouble([.json(Self.user()), changed, .json(Self.user()), changed])
    let told = failure { () throws(DirectoryFailure) in
      try twice.scim().setPassword(Secret("a new password"), of: "7")
    }
    expect(told?.kind, is: "unavailable")
  }

  @Test(
    "a refusal is told by its status and its scimType, without the directory's words",
    arguments: [
      (400, #"{"scimType": "invalidValue", "detail": "my secret"}"#, "invalidPassword"),
      (400, "{}", "invalidPassword"), (400, #"{"scimType": "invalidPath"}"#, "fault"),
      (401, "{}", "refused"), (403, "{}", "refused"), (403, "<html>", "refused"),
      (404, "{}", "unknownPerson"), (413, "", "fault"), (418, "{}", "fault"),
      (500, "<html>", "unavailable"), (503, "", "unavailable"), (408, "", "unavailable"),
      (302, "", "fault"), (200, "<html>my secret</html>", "fault"),
    ])
  func refusals(status: Int, body: String, kind: String) throws {
    let double = DirectoryDouble([.json(Self.user()), .json(body, status)])
    let told = failure { () throws(DirectoryFailure) in
      try double.scim().setPassword(Secret("my secret"), of: "7")
    }
    expect(told?.kind, is: kind, "\(told?.message ?? "nothing")")
    expect(told?.message.contains("my secret"), is: false)
  }

  @Test(
    "a request without a whole answer is told by its cause",
    arguments: [
      (EnrollError(.network, "not reached"), "unavailable"),
      (EnrollError(.timeout, "too slow"), "unavailable"),
      (EnrollError(.responseInvalid, "more than 4 MiB"), "fault"),
    ])
  func transportFailures(_ error: EnrollError, kind: String) throws {
    let ada = try address("ada@example.org")
    let told = failure { () throws(DirectoryFailure) in
      try DirectoryDouble([.failure(error)]).scim().person(with: ada)
    }
    expect(told?.kind, is: kind)
  }

  @Test("a directory that wants a pause gets no requests until it is over")
  func pause() throws {
    let double = DirectoryDouble([.status(429, [HTTPHeader("Retry-After", "20")])])
    let directory = double.scim()
    let ada = try address("ada@example.org")
    let first = failure { () throws(DirectoryFailure) in try directory.person(with: ada) }
    expect(first, is: .unavailable("the directory answers 429, and wants no requests for 20 s"))
    double.clock.advance(seconds: 19)
    expect(
      failure { () throws(DirectoryFailure) in try directory.person(with: ada) }?.kind, is: "unavailable")
    expect(double.requests.count, is: 1)
    double.clock.advance(seconds: 1)
    double.add(Self.nobody)
    try expect(directory.person(with: ada), is: nil)
  }

  @Test("an id stays one segment of the path", arguments: ["..", ".", "", "a/../b?c#d"])
  func segments(id: String) throws {
    let double = DirectoryDouble([.json(Self.user(id))])
    let told = failure { () throws(DirectoryFailure) in try double.scim().state(of: id) }
    expect(told, is: id.count > 2 ? nil : .unknownPerson)
    expect(double.asked, is: id.count > 2 ? ["GET /Users/a%2F..%2Fb%3Fc%23d"] : [])
  }

  @Test("an answer about another user is refused")
  func otherUser() {
    let told = failure { () throws(DirectoryFailure) in
      try DirectoryDouble([.json(Self.user("8"))]).scim().state(of: "7")
    }
    expect(told?.kind, is: "fault")
  }

  @Test("SCIM checks no passwords, and says so without a request")
  func check() throws {
    let double = DirectoryDouble([])
    let ada = try address("ada@example.org")
    #expect(!double.scim().checksPasswords)
    let told = failure { () throws(DirectoryFailure) in try double.scim().check(Secret("x"), of: ada) }
    expect(told?.kind, is: "unsupported")
  }

  @Test("a probe needs PATCH, and the right to search")
  func probe() throws {
    let can = DirectoryDouble.Reply.json(#"{"patch": {"supported": true}}"#)
    try DirectoryDouble([can, Self.nobody]).scim().probe()
    let cannot = DirectoryDouble([.json(#"{"patch": {"supported": false}}"#)])
    expect(failure { () throws(DirectoryFailure) in try cannot.scim().probe() }?.kind, is: "unsupported")
    let stranger = DirectoryDouble([can, .json("{}", 403)])
    expect(failure { () throws(DirectoryFailure) in try stranger.scim().probe() }?.kind, is: "refused")
  }
}

@Suite("the gateway's token at a directory")
struct DirectoryCredentialsTests {
  static let client = DirectoryCredentials.Client(
    tokenURI: "https://id.example/token", id: "a:b", secret: Secret("s/1"), scope: "scim")
  static func token(_ text: String) -> DirectoryDouble.Reply {
    .json(#"{"access_token": "\#(text)", "token_type": "Bearer", "expires_in": 600}"#)
  }

  @Test("a token for client credentials is kept until shortly before its end")
  func keeping() throws {
    let nobody = SCIMTests.nobody
    let double = DirectoryDouble([Self.token("one"), nobody, nobody, Self.token("two"), nobody])
    let directory = double.scim([.userName], .client(Self.client))
    let ada = try address("ada@example.org")
    _ = try directory.person(with: ada)
    double.clock.advance(seconds: 569)
    _ = try directory.person(with: ada)
    double.clock.advance(seconds: 1)
    _ = try directory.person(with: ada)
    expect(
      (0..<5).map { double.header("Authorization", $0) },
      is: [
        "Basic YSUzQWI6cyUyRjE=", "Bearer one", "Bearer one", "Basic YSUzQWI6cyUyRjE=", "Bearer two",
      ])
    expect(
      String(decoding: double.requests[0].body, as: UTF8.self), is: "grant_type=client_credentials&scope=scim"
    )
  }

  @Test("a token that the directory does not know any more is asked for anew, once")
  func forgotten() throws {
    let no = DirectoryDouble.Reply.json("{}", 401)
    let double = DirectoryDouble([Self.token("one"), no, Self.token("two"), SCIMTests.nobody])
    let ada = try address("ada@example.org")
    try expect(double.scim([.userName], .client(Self.client)).person(with: ada), is: nil)
    let never = DirectoryDouble([Self.token("one"), no, Self.token("two"), no])
    let told = failure { () throws(DirectoryFailure) in
      try never.scim([.userName], .client(Self.client)).person(with: ada)
    }
    expect(told?.kind, is: "refused")
    let refused = DirectoryDouble([.json(#"{"error": "invalid_client"}"#, 401)])
    let why = failure { () throws(DirectoryFailure) in
      try refused.scim([.userName], .client(Self.client)).person(with: ada)
    }
    expect(why?.kind, is: "refused", "\(why?.message ?? "")")
  }
}
