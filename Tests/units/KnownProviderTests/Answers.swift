// The answers of a known provider to hand-made requests. Tests/system/RealTests/test_known_providers.py sends the same
// requests to the real servers and compares the answers. Both tests describe an answer with the same words.

import EnrollRules
import EnrollJSON
import EnrollTesting
import Foundation

/// The expected answers: `answers.txt`, which ENROLL_WRITE_DOCS=1 writes.
enum Answers {
  /// The providers whose real servers Tests/system/RealTests starts.
  static let providers = [
    "keycloak", "keycloak-strict", "oidc-provider", "spring-refresh", "hydra", "zitadel-oidc",
  ]

  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("answers.txt")

  static func read() throws -> [String: [String: String]] {
    var answers: [String: [String: String]] = [:]
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where line.first != "#" {
      let parts = line.components(separatedBy: " | ")
      guard parts.count == 3 else { throw CocoaError(.fileReadCorruptFile) }
      answers[parts[0], default: [:]][parts[1]] = parts[2]
    }
    return answers
  }

  static func write(_ answers: [(String, [(String, String)])]) throws {
    var text = "# provider | question | answer: what a known provider answers, and a real server, too.\n"
    for (id, answers) in answers {
      for (question, answer) in answers { text += "\(id) | \(question) | \(answer)\n" }
    }
    try text.write(to: file, atomically: true, encoding: .utf8)
  }
}

/// Asks one known provider all questions.
struct Interview {
  private let fake: FakeProvider
  /// The same provider with other clients: `confidential` has a secret, `loopback` has three loopback redirects.
  private let confidential, loopback: FakeProvider
  private let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  private let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

  init(_ id: String) throws {
    let (entry, clock) = (try KnownProviders.named(id), FakeClock())
    fake = try FakeProvider(entry, registration: Preset(id).registration, clock: clock)
    let registration = FakeProvider.Registration(
      redirectURIs: ["127.0.0.1", "localhost", "[::1]"].map { "http://\($0)/callback" })
    loopback = try FakeProvider(entry, registration: registration, clock: clock)
    let secret = JSON.object([
      (
        "client",
        .object([("secret", .object([("code", .string("required")), ("refresh", .string("required"))]))])
      )
    ])
    confidential = try FakeProvider(entry.with(secret), registration: Preset(id).registration, clock: clock)
  }

  /// The questions in order, each with its answer.
  func answers() throws -> [(String, String)] {
    let metadata = try self.metadata()
    let address = metadata["token_endpoint"]?.string ?? ""
    return Self.described(metadata) + [("loopback hosts", hosts)] + (try session(address))
      + (try codes(address))
      + (try clients(address, metadata["revocation_endpoint"]?.string))
  }

  private func metadata() throws -> JSON {
    let path = fake.dialect.issuer.hasSuffix("/") ? String(fake.issuer.dropLast()) : fake.issuer
    for name in ["openid-configuration", "oauth-authorization-server"] {
      let answer = try fake.send(HTTPRequest(.get, "\(path)/.well-known/\(name)"), cancellation: nil)
      if answer.status == 200 { return try JSON.parse(answer.body) }
    }
    return .null
  }

  private static func described(_ metadata: JSON) -> [(String, String)] {
    let endpoints = [
      "device_authorization", "end_session", "pushed_authorization_request", "revocation", "userinfo",
    ]
    func list(_ name: String) -> String {
      let values = metadata[name]?.array?.compactMap(\.string).sorted() ?? []
      return values.isEmpty ? "none" : values.joined(separator: " ")
    }
    return [
      ("endpoints", endpoints.filter { metadata["\($0)_endpoint"] != nil }.joined(separator: " ")),
      ("client authentication", list("token_endpoint_auth_methods_supported")),
      ("challenge methods", list("code_challenge_methods_supported")),
      ("scopes", list("scopes_supported")), ("prompts", list("prompt_values_supported")),
      (
        "iss in redirects",
        metadata["authorization_response_iss_parameter_supported"] == .bool(true) ? "yes" : "no"
      ), ("DPoP", metadata["dpop_signing_alg_values_supported"] == nil ? "no" : "yes"),
    ]
  }

  /// Three loopback addresses are registered without a port. This text says which of them also accept a redirect with a
  /// port.
  private var hosts: String {
    let hosts = ["127.0.0.1", "localhost", "[::1]"]
    return hosts.filter { host in
      guard case .redirect = loopback.authorize(request("http://\(host):4711/callback")) else { return false }
      return true
    }.joined(separator: " ")
  }

  /// Questions about one session, from its code to its end.
  private func session(_ address: String) throws -> [(String, String)] {
    let given = try redeem(code(), address).json
    let spent = given["refresh_token"]?.string
    let renewed = try renew(spent, address).json
    let current = renewed["refresh_token"]?.string ?? spent
    let unknown = try renew("nonsense", address)
    let more = try renew(current, address, scope: "openid nonsense")
    let fewer = try renew(more.json["refresh_token"]?.string ?? current, address, scope: "openid")
    let newest = fewer.json["refresh_token"]?.string ?? current
    let again = try renew(spent, address)
    let after = try renew(again.json["refresh_token"]?.string ?? newest, address)
    return [
      ("code", Self.members(given)), ("renewal", Self.members(renewed)),
      (
        "refresh token of a renewal",
        renewed["refresh_token"].map { $0.string == spent ? "the same" : "another" } ?? "none"
      ),
      ("nonce of a renewal", Self.claims(renewed)?["nonce"] == nil ? "none" : "the same"),
      ("auth_time of a renewal", Self.claims(renewed)?["auth_time"] == nil ? "none" : "the same"),
      ("unknown refresh token", Self.outcome(unknown)),
      ("more scopes", more.status == 200 ? "ignored" : Self.outcome(more)),
      ("fewer scopes", Self.scope(fewer.json)), ("spent refresh token", Self.outcome(again)),
      ("session after a spent refresh token", after.status == 200 ? "lives" : "ends"),
    ]
  }

  private func codes(_ address: String) throws -> [(String, String)] {
    let code = try self.code()
    let given = try redeem(code, address).json
    let again = try redeem(code, address)
    let after = try renew(given["refresh_token"]?.string, address)
    let wrong = try redeem(self.code(), address, verifier: String(verifier.reversed()))
    return [
      ("spent code", Self.outcome(again)),
      ("session after a spent code", after.status == 200 ? "lives" : "ends"),
      ("wrong verifier", Self.outcome(wrong)),
    ]
  }

  private func clients(_ address: String, _ revocation: String?) throws -> [(String, String)] {
    let form = ["grant_type": "refresh_token", "refresh_token": "nonsense"]
    let nobody = try post(fake, address, form.merging(["client_id": "nobody"]) { $1 })
    let pair = Data("\(fake.registration.clientID):wrong".utf8).base64EncodedString()
    let wrong = try post(confidential, address, form, [HTTPHeader("Authorization", "Basic \(pair)")])
    var answers = [("unknown client", Self.outcome(nobody)), ("wrong secret", Self.outcome(wrong))]
    if let revocation {
      let revoked = try post(
        fake, revocation, ["token": "nonsense", "client_id": fake.registration.clientID])
      answers.append(("revocation of an unknown token", Self.outcome(revoked)))
    }
    return answers
  }

  // MARK: Requests

  private typealias Answer = (status: Int, json: JSON)

  private func request(_ redirect: String) -> String {
    let scopes =
      fake.dialect.refusesOfflineAccess ? "openid profile email" : "openid profile email offline_access"
    let query = FormEncoding.encode([
      ("response_type", "code"), ("client_id", fake.registration.clientID), ("redirect_uri", redirect),
      ("scope", scopes), ("state", "state-state"), ("nonce", "nonce-nonce"), ("prompt", "consent"),
      ("code_challenge", challenge), ("code_challenge_method", "S256"),
    ])
    return "\(fake.authorizationURL)?\(String(decoding: query, as: UTF8.self))"
  }

  private func code() throws -> String {
    let url = request(fake.registration.redirectURIs[0])
    guard case .redirect(let back) = fake.authorize(url) else { throw Stage.Stays(page: url) }
    return URLComponents(string: "https://x/?" + (back.split(separator: "?").last ?? ""))?.queryItems?
      .first { $0.name == "code" }?.value ?? ""
  }

  private func redeem(_ code: String, _ address: String, verifier other: String? = nil) throws -> Answer {
    try post(
      fake, address,
      [
        "grant_type": "authorization_code", "code": code, "redirect_uri": fake.registration.redirectURIs[0],
        "code_verifier": other ?? verifier, "client_id": fake.registration.clientID,
      ])
  }

  private func renew(_ token: String?, _ address: String, scope: String? = nil) throws -> Answer {
    var form = [
      "grant_type": "refresh_token", "refresh_token": token ?? "", "client_id": fake.registration.clientID,
    ]
    form["scope"] = scope
    return try post(fake, address, form)
  }

  private func post(
    _ fake: FakeProvider, _ address: String, _ form: [String: String], _ headers: [HTTPHeader] = []
  ) throws -> Answer {
    let body = FormEncoding.encode(form.map { ($0.key, $0.value) })
    let answer = try fake.send(HTTPRequest(.post, address, headers: headers, body: body), cancellation: nil)
    return (answer.status, (try? JSON.parse(answer.body)) ?? .null)
  }

  // MARK: Words

  private static func members(_ answer: JSON) -> String {
    let known = ["access_token", "expires_in", "id_token", "refresh_token", "scope", "token_type"]
    return known.filter { answer[$0] != nil }.joined(separator: " ")
  }

  private static func outcome(_ answer: Answer) -> String {
    "\(answer.status)" + (answer.json["error"]?.string.map { " \($0)" } ?? "")
  }

  private static func scope(_ answer: JSON) -> String {
    guard answer["access_token"] != nil else { return "refused" }
    return answer["scope"]?.string.map { $0 == "openid" ? "fewer" : "as many as before" } ?? "not told"
  }

  private static func claims(_ answer: JSON) -> JSON? {
    let parts = answer["id_token"]?.string?.split(separator: ".") ?? []
    guard parts.count == 3 else { return nil }
    return Base64URL.decode(String(parts[1])).flatMap { try? JSON.parse($0) }
  }
}
