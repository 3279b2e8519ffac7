import EnrollRules
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

/// A client of a known provider. It does not use the library, but makes its requests by hand.
private struct Caller {
  let fake: FakeProvider
  let clock = FakeClock()
  // RFC 7636 appendix B.
  private let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  private let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

  init(_ id: String, _ changes: String = "{}") throws {
    let entry = try KnownProviders.named(id).with(JSON.parse(Array(changes.utf8)))
    fake = try FakeProvider(entry, registration: Preset(id).registration, clock: clock)
  }

  var redirect: String { fake.registration.redirectURIs[0] }

  func url(_ changes: [String: String?] = [:]) -> String {
    var query: [String: String?] = [
      "response_type": "code", "client_id": fake.registration.clientID, "redirect_uri": redirect,
      "scope": "openid", "state": "s", "code_challenge": challenge, "code_challenge_method": "S256",
    ]
    query.merge(changes) { $1 }
    let fields = query.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }
    return fake.authorizationURL + "?" + fields.joined(separator: "&")
  }

  private static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  /// The parameters of the redirect; nil if the browser stays at the provider.
  func back(_ changes: [String: String?] = [:], as user: String = "alice") -> [String: String]? {
    guard case .redirect(let url) = fake.authorize(url(changes), as: user) else { return nil }
    return URLComponents(string: "https://x/?" + (url.split(separator: "?").last ?? ""))?.queryItems?.reduce(
      into: [:]) { $0[$1.name] = $1.value }
  }

  func page(_ changes: [String: String?]) -> String? {
    guard case .stays(_, let text) = fake.authorize(url(changes)) else { return nil }
    return text
  }

  /// The token endpoint's answer to a request with these fields; a nil value removes a parameter.
  func token(
    _ fields: [String: String?], to address: String, accept: String? = "application/json",
    basic: String? = nil
  ) throws -> (status: Int, text: String, json: JSON) {
    var form: [String: String?] = ["client_id": fake.registration.clientID]
    form.merge(fields) { $1 }
    let body = form.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }
    let response = try fake.send(
      HTTPRequest(
        .post, address,
        headers: (accept.map { [HTTPHeader("Accept", $0)] } ?? [])
          + (basic.map { [HTTPHeader("Authorization", "Basic \($0)")] } ?? []),
        body: Array(body.joined(separator: "&").utf8)), cancellation: nil)
    return (
      response.status, String(decoding: response.body, as: UTF8.self),
      (try? JSON.parse(response.body)) ?? .null
    )
  }

  func redeem(
    _ code: String?, secret: String? = nil, basic: String? = nil, to address: String,
    accept: String? = "application/json"
  ) throws -> (status: Int, text: String, json: JSON) {
    try token(
      [
        "grant_type": "authorization_code", "code": code ?? "", "code_verifier": verifier,
        "redirect_uri": redirect, "client_secret": secret,
      ], to: address, accept: accept, basic: basic)
  }

  func renew(_ token: JSON?, to address: String) throws -> JSON {
    try self.token(["grant_type": "refresh_token", "refresh_token": token?.string ?? ""], to: address).json
  }
}

@Suite("A known provider")
struct DialectBehaviourTests {
  @Test(
    "refuses a scope that it does not know",
    arguments: [("gitlab", "openid offline_access"), ("kanidm", "openid groups"), ("dex", "email")])
  func scope(id: String, scopes: String) throws {
    try expect(Caller(id).back(["scope": scopes])?["error"], is: "invalid_scope")
    try expect(Caller(id).back(["scope": "openid email"])?["code"], isNot: nil)
  }

  @Test("shows an error page for a prompt that it does not know, or ignores it")
  func prompt() throws {
    let google = try Caller("google-desktop")
    expect(google.page(["prompt": "login"]), is: "Invalid parameter value for prompt: login")
    expect(google.back(["prompt": "select_account"])?["code"], isNot: nil)
    try expect(Caller("github").back(["prompt": "login"])?["code"], isNot: nil)
  }

  @Test(
    "sends the browser to no redirect that it does not register",
    arguments: [
      ("google-desktop", "com.example.app:/callback", "the scheme com.example.app is not accepted"),
      ("entra-tenant", "http://127.0.0.1/", "127.0.0.1 is not accepted"),
      ("spotify", "http://localhost/callback", "localhost is not accepted"),
      ("apple", "com.example.app:/callback", "only https is accepted"),
      ("facebook", "gbnative://authorize", "the scheme gbnative is not accepted"),
    ])
  func redirect(id: String, uri: String, problem: String) throws {
    let registration = FakeProvider.Registration(redirectURIs: [uri])
    let fake = try FakeProvider(id, registration: registration, clock: FakeClock())
    let caller = try Caller(id)
    let url = caller.url(["redirect_uri": uri, "client_id": "native"])
    expect(fake.authorize(url), is: .stays(status: 400, text: "redirect_uri: \(problem)"))
  }

  @Test("takes any port of a loopback redirect, or the registered one alone")
  func port() throws {
    for (id, isTaken) in [("google-desktop", true), ("gitlab", false)] {
      let registration = FakeProvider.Registration(redirectURIs: ["http://127.0.0.1/cb"])
      let fake = try FakeProvider(id, registration: registration, clock: FakeClock())
      let url = try Caller(id).url(["redirect_uri": "http://127.0.0.1:4711/cb"])
      if case .redirect = fake.authorize(url) { #expect(isTaken) } else { #expect(!isTaken) }
    }
  }

  @Test("wants PKCE, or refuses it")
  func proof() throws {
    try expect(Caller("x").back(["code_challenge": String?.none])?["error"], is: "invalid_request")
    try expect(Caller("okta").back(["code_challenge": String?.none])?["code"], isNot: nil)
    let linkedIn = try Caller("linkedin")
    let answer = try linkedIn.redeem(
      linkedIn.back()?["code"], secret: linkedIn.fake.registration.secret,
      to: "https://www.linkedin.com/oauth/token")
    expect(answer.json["error"]?.string, is: "invalid_client")
  }

  @Test("wants a secret, wants none, or takes either")
  func secret() throws {
    let google = try Caller("google-desktop")
    let address = "https://oauth2.googleapis.com/token"
    let without = try google.redeem(google.back()?["code"], to: address)
    expect(without.status, is: 400)
    expect(without.json["error_description"]?.string, is: "client_secret is missing.")
    try expect(google.redeem(google.back()?["code"], secret: "wrong", to: address).status, is: 401)
    let secret = google.fake.registration.secret
    try expect(google.redeem(google.back()?["code"], secret: secret, to: address).status, is: 200)
    let salesforce = try Caller("salesforce")
    let refused = try salesforce.redeem(
      salesforce.back()?["code"], secret: secret, to: "https://login.salesforce.com/token")
    expect(refused.json["error"]?.string, is: "invalid_client")
  }

  @Test("GitHub says errors with 200, answers as a form unless JSON is accepted, and wants a User-Agent")
  func github() throws {
    let github = try Caller("github")
    let address = "https://github.com/login/oauth/access_token"
    let secret = github.fake.registration.secret
    let refused = try github.redeem("wrong", secret: secret, to: address)
    #expect(refused.status == 200 && refused.json["error"]?.string == "invalid_grant")
    let scopes = ["scope": "read:user user:email"]
    let form = try github.redeem(github.back(scopes)?["code"], secret: secret, to: address, accept: nil)
    #expect(form.text.contains("access_token=access") && form.text.contains("token_type=bearer"))
    let tokens = try github.redeem(github.back(scopes)?["code"], secret: secret, to: address).json
    expect(tokens["scope"]?.string, is: "read:user,user:email")
    expect(tokens["id_token"], is: nil)
    let bearer = HTTPHeader("Authorization", "Bearer \(tokens["access_token"]?.string ?? "")")
    for (headers, status) in [([bearer], 403), ([bearer, HTTPHeader("User-Agent", "app")], 200)] {
      let request = HTTPRequest(.get, "https://api.github.com/user", headers: headers)
      try expect(github.fake.send(request, cancellation: nil).status, is: status)
    }
    try expect(github.fake.send(HTTPRequest(.get, github.fake.issuer), cancellation: nil).status, is: 404)
  }

  @Test("Facebook's and Slack's errors have shapes of their own")
  func shapes() throws {
    let facebook = try Caller("facebook")
    let error = try facebook.redeem("wrong", to: "https://graph.facebook.com/v22.0/oauth/access_token")
    #expect(error.status == 400 && error.json["error"]?["type"]?.string == "OAuthException")
    let slack = try Caller("slack")
    let other = try slack.redeem("wrong", to: "https://slack.com/api/openid.connect.token")
    #expect(other.status == 200 && other.json["ok"] == .bool(false))
    expect(other.json["error"]?.string, is: "invalid_request")
  }

  @Test("a secret that is sent in a way that the client is not registered for spends the code, or does not")
  func wrongMethod() throws {
    let changes = #"{"client":{"secret":{"code":"required"},"authMethods":["client_secret_basic"]}}"#
    for (id, address, status) in [
      ("better-auth", "https://login.example.org/api/auth/token", 400),
      ("keycloak", "https://login.example.org/realms/acme/token", 200),
    ] {
      let caller = try Caller(id, changes)
      let code = caller.back()?["code"]
      let secret = caller.fake.registration.secret
      try expect(caller.redeem(code, secret: secret, to: address).status, is: 401, "\(id)")
      let pair = Data("\(caller.fake.registration.clientID):\(secret)".utf8).base64EncodedString()
      try expect(caller.redeem(code, basic: pair, to: address).status, is: status, "\(id)")
    }
  }

  @Test("a code that comes twice is refused, and ends its session or does not")
  func spentCode() throws {
    for (id, address, isAlive) in [
      ("keycloak", "https://login.example.org/realms/acme/token", false),
      ("zitadel-oidc", "https://login.example.org/token", true),
    ] {
      let caller = try Caller(id)
      let code = caller.back(["scope": "openid offline_access"])?["code"]
      let token = try caller.redeem(code, to: address).json["refresh_token"]
      try expect(caller.redeem(code, to: address).json["error"]?.string, is: "invalid_grant", "\(id)")
      try expect((caller.renew(token, to: address)["access_token"] != nil), is: isAlive, "\(id)")
    }
  }

  @Test("offline_access counts with prompt=consent alone, where the dialect says so")
  func consent() throws {
    let caller = try Caller("oidc-provider")
    let address = caller.fake.issuer + "/token"
    for (prompt, isGiven) in [(nil, false), ("consent", true)] {
      let code = caller.back(["scope": "openid offline_access", "prompt": prompt])?["code"]
      let answer = try caller.redeem(code, to: address).json
      expect((answer["refresh_token"] != nil), is: isGiven)
      expect(answer["scope"]?.string, is: isGiven ? "openid offline_access" : "openid")
    }
  }

  @Test("a used refresh token is refused, ends the family, keeps working, or has a time of grace")
  func reuse() throws {
    for (id, address, scopes, isUsable, isFamilyAlive) in [
      ("gitlab", "https://gitlab.com/oauth/token", "openid", false, true),
      ("x", "https://api.x.com/2/oauth2/token", "offline.access", false, false),
      (
        "entra-tenant", "https://login.microsoftonline.com/\(FakeProvider.tenant)/v2.0/token",
        "openid offline_access", true, true
      ),
      ("dex", "https://login.example.org/dex/token", "openid offline_access", false, true),
      ("openauth", "https://login.example.org/token", "all", true, true),
    ] {
      let caller = try Caller(id)
      let first = try caller.redeem(caller.back(["scope": scopes])?["code"], to: address)
        .json["refresh_token"]
      let second = try caller.renew(first, to: address)["refresh_token"]
      expect(second, isNot: nil, "\(id)")
      let again = try caller.renew(first, to: address)
      expect((again["access_token"] != nil), is: isUsable, "\(id)")
      if id == "x" {
        expect(again["error_description"]?.string, is: "Value passed for the token was invalid.")
      }
      expect((try caller.renew(second, to: address)["access_token"] != nil), is: isFamilyAlive, "\(id)")
    }
  }

  @Test("a user who is signed in stays so until a logout, or until a choice is asked for")
  func browser() throws {
    let okta = try Caller("okta")
    let address = okta.fake.issuer + "/token"
    func subject(_ user: String, prompt: String?) throws -> String? {
      let tokens = try okta.redeem(okta.back(["prompt": prompt], as: user)?["code"], to: address)
      let request = HTTPRequest(
        .get, okta.fake.issuer + "/userinfo",
        headers: [HTTPHeader("Authorization", "Bearer \(tokens.json["access_token"]?.string ?? "")")])
      return try JSON.parse(okta.fake.send(request, cancellation: nil).body)["sub"]?.string
    }
    try expect(subject("alice", prompt: nil), is: "alice")
    try expect(subject("bob", prompt: nil), is: "alice")
    try expect(subject("bob", prompt: "login"), is: "bob")
    let logout = okta.fake.logoutURL ?? ""
    expect(okta.fake.visit(logout), is: .stays(status: 400, text: "id_token_hint is missing"))
    expect(okta.fake.visit(logout + "?id_token_hint=x"), is: .stays(status: 200, text: "signed out"))
    try expect(subject("carol", prompt: nil), is: "carol")
  }

  @Test("Cognito's logout wants its own parameters and drops the state; Apple's page wants form_post")
  func pages() throws {
    let cognito = try Caller("cognito").fake
    let logout = cognito.logoutURL ?? ""
    let text = "Required String parameter redirect_uri is not present"
    expect(
      cognito.visit(logout + "?post_logout_redirect_uri=com.example.app:/logout"),
      is: .stays(status: 400, text: text))
    expect(
      cognito.visit(logout + "?client_id=native&state=s&logout_uri=com.example.app:/logout"),
      is: .redirect("com.example.app:/logout"))
    let apple = try Caller("apple")
    expect(apple.back(["scope": "openid email"])?["error"], is: "invalid_request")
    expect(apple.back(["scope": "openid email", "response_mode": "form_post"])?["code"], isNot: nil)
  }
}
