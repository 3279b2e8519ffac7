// A known provider for tests of a server. Apple, Facebook, Google and GitHub require more of servers than of apps, and
// this fake checks all these requirements. Like the dialects, the fake follows documents and reports; it was never
// compared with the real services.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON
import EnrollPosix
import Foundation

/// A fake provider that answers like one of the ``KnownProviders`` if the client is a server with a secret.
public final class ProviderForServers: Transport, @unchecked Sendable {
  // Unchecked: all mutable state is in `state`.

  /// How the server authenticates.
  public enum Proof: Sendable {
    /// With the client secret from the registration, sent in the way that the dialect states.
    case secret
    /// With a client secret that is a JWT signed with this key (Apple).
    case appleSecret(team: String, keyID: String, key: PublicKey)
    /// With an assertion signed with this key (`private_key_jwt`).
    case assertion(keyID: String?, key: PublicKey, audience: String)
  }

  /// The next step of the browser, after the user allowed or refused the sign-in.
  public enum Answer: Equatable, Sendable {
    /// The browser goes to this URL.
    case redirect(String)
    /// The browser submits this form to the URL, from the provider's page.
    case form(to: String, fields: [String: String])
    /// The browser stays at the provider and shows this text.
    case stays(String)
  }

  /// The user who signs in.
  public struct Person: Sendable {
    /// The user's name at the provider.
    public var name = "alice"
    /// The Workspace domain in the id_token (`hd`, Google).
    public var hostedDomain: String?
    /// Edits the claims of the id_token. For a provider without id_tokens, it edits the profile.
    public var edit: @Sendable (inout JSONObject) -> Void = { _ in }
    /// The answer of a provider with a separate endpoint for e-mail addresses (GitHub). If this is nil, the answer has
    /// one verified address.
    public var emails: JSON?

    /// A user without special properties.
    public init() {}
  }

  /// The fake provider that answers the requests after they were checked.
  public let fake: FakeProvider
  private let proof: Proof
  private let state = Guarded(State(), by: Mutex())

  private struct State {
    var person = Person()
    var refusals: [String] = []
    var revoked: [String] = []
    var identifiers: Set<String> = []
    var sentSecrets: [String] = []
    /// The users whose name Apple has already sent.
    var known: Set<String> = []
  }

  /// - Parameters:
  ///   - fake: a provider that imitates `apple`, `facebook`, `google-desktop`, `github`, or any other provider.
  ///   - proof: how the client authenticates.
  public init(_ fake: FakeProvider, proof: Proof = .secret) {
    self.fake = fake
    self.proof = proof
    fake.change {
      $0.claims = { [unowned self] claims in
        let person = state.withLock { $0.person }
        if fake.id == "apple" { claims["name"] = nil }
        claims["hd"] = person.hostedDomain.map { .string($0) }
        person.edit(&claims)
      }
    }
  }

  /// The reasons for refused requests, the oldest first.
  public var refusals: [String] { state.withLock { $0.refusals } }
  /// The client secrets and assertions that were received, in order.
  public var sentSecrets: [String] { state.withLock { $0.sentSecrets } }
  /// The tokens that were revoked.
  public var revoked: [String] { state.withLock { $0.revoked } }

  // MARK: The browser

  /// Opens an authorization URL and signs the person in.
  /// - Parameters:
  ///   - url: the URL that the client opens.
  ///   - person: the user who signs in.
  ///   - error: the error with which the user or the provider refuses; nil if the sign-in succeeds.
  public func authorize(_ url: String, as person: Person = Person(), error: String? = nil) -> Answer {
    state.withLock { $0.person = person }
    guard case .redirect(let back) = fake.authorize(url, as: person.name) else {
      return .stays("the provider shows a page of its own")
    }
    let asked = parameters(of: url)
    if let domain = asked["hd"], domain != "*", domain != person.hostedDomain, person.hostedDomain != nil {
      // If the request has `hd`, Google's page refuses accounts of any other domain.
      return .stays("this account is not of \(domain)")
    }
    var fields = parameters(of: back)
    if let error { (fields["code"], fields["error"]) = (nil, error) }
    let target = String(back.prefix { $0 != "?" })
    guard asked["response_mode"] == "form_post" else {
      return .redirect(target + "?" + fields.map { "\($0.key)=\(encoded($0.value))" }.joined(separator: "&"))
    }
    if fake.id == "apple", fields["code"] != nil,
      state.withLock({ $0.known.insert(person.name).inserted })
    {
      fields["user"] = #"{"name":{"firstName":"Alice","lastName":"Example"},"email":"alice@example.com"}"#
    }
    return .form(to: target, fields: fields)
  }

  // MARK: Transport

  public func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError)
    -> HTTPResponse
  {
    var request = request
    if request.method == .post {
      if let why = clientRefusal(&request) { return refused(401, "invalid_client", why) }
      if fake.id == "facebook", form(request)["client_secret"] != fake.registration.secret {
        return refused(400, "invalid_client", "client_secret is missing or wrong")
      }
    } else if fake.id == "facebook", request.url.hasPrefix("https://graph.facebook.com/") {
      if let why = graphRefusal(&request) { return refused(400, "invalid_request", why) }
    }
    let count = fake.count(.revocation)
    var response = try fake.send(request, cancellation: cancellation)
    if fake.count(.revocation) > count, let token = form(request)["token"] {
      state.withLock { $0.revoked.append(token) }
    }
    edit(&response, of: request)
    return response
  }

  private func refused(_ status: Int, _ error: String, _ why: String) -> HTTPResponse {
    state.withLock { $0.refusals.append(why) }
    return fake.json(
      status, .object([("error", .string(error)), ("error_description", .string(why))]))
  }

  /// Edits the profile of a provider without id_tokens, and GitHub's e-mail addresses.
  private func edit(_ response: inout HTTPResponse, of request: HTTPRequest) {
    let person = state.withLock { $0.person }
    guard request.method == .get, response.status == 200 else { return }
    if request.url == fake.dialect.userinfo.emails, let emails = person.emails {
      response.body = emails.serialized()
    } else if ["facebook", "github"].contains(fake.id), request.url == fake.address(of: .userinfo),
      var profile = (try? JSON.parse(response.body))?.object
    {
      // Facebook's profile does not say whether the e-mail address is verified.
      if fake.id == "facebook" { profile["email_verified"] = nil }
      person.edit(&profile)
      response.body = JSON.object(profile).serialized()
    }
  }

  /// Checks how the client authenticates in the request, and replaces that authentication with the secret of the
  /// registration.
  /// - Returns: why the authentication is refused; nil if it is valid.
  private func clientRefusal(_ request: inout HTTPRequest) -> String? {
    var sent = form(request)
    if let secret = sent["client_secret"] ?? sent["client_assertion"] {
      state.withLock { $0.sentSecrets.append(secret) }
    }
    switch proof {
    case .secret: return nil
    case .appleSecret(let team, let keyID, let key):
      guard let secret = sent["client_secret"] else { return "client_secret is missing" }
      if let why = appleRefusal(secret, team, keyID, key) { return why }
    case .assertion(let keyID, let key, let audience):
      let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
      guard sent["client_assertion_type"] == type, let assertion = sent["client_assertion"] else {
        return "client_assertion is missing"
      }
      guard sent["client_secret"] == nil else { return "a client uses one way to prove itself" }
      if let why = assertionRefusal(assertion, keyID, key, audience) { return why }
      (sent["client_assertion_type"], sent["client_assertion"]) = (nil, nil)
    }
    sent["client_secret"] = fake.registration.secret
    request.body = FormEncoding.encode(sent.map { ($0.key, $0.value) })
    return nil
  }

  /// Checks the JWT that a client sends to Apple as its client secret (Apple, Creating a client secret).
  private func appleRefusal(_ text: String, _ team: String, _ keyID: String, _ key: PublicKey) -> String? {
    guard let jwt = ReceivedJWT(text), jwt.isSigned(by: key, .ES256) else {
      return "the client secret is not signed with ES256 by the team's key"
    }
    let now = fake.clock.wallTime().seconds
    guard jwt.header["kid"]?.string == keyID else { return "kid is not the key's" }
    guard jwt.claims["iss"]?.string == team else { return "iss is not the team" }
    guard jwt.claims["sub"]?.string == fake.registration.clientID else { return "sub is not the client" }
    guard jwt.claims["aud"]?.string == "https://appleid.apple.com" else { return "aud is not Apple" }
    guard let issued = jwt.claims["iat"]?.integer, issued <= now else { return "iat is in the future" }
    guard let end = jwt.claims["exp"]?.integer, end > now else { return "exp has passed" }
    return end <= now + 15_777_000 ? nil : "exp is more than six months away"
  }

  /// Checks an assertion (RFC 7523 §3, OpenID Connect Core §9).
  private func assertionRefusal(
    _ text: String, _ keyID: String?, _ key: PublicKey, _ audience: String
  ) -> String? {
    let algorithm = SignatureAlgorithm.allCases.first { $0.fits(key.kind) }
    guard let algorithm, let jwt = ReceivedJWT(text), jwt.isSigned(by: key, algorithm) else {
      return "the assertion is not signed by the client's key"
    }
    let now = fake.clock.wallTime().seconds
    guard jwt.header["kid"]?.string == keyID else { return "kid is not the key's" }
    guard jwt.claims["iss"]?.string == fake.registration.clientID,
      jwt.claims["sub"]?.string == fake.registration.clientID
    else { return "iss and sub are not the client" }
    guard jwt.claims["aud"]?.string == audience else { return "aud is not \(audience)" }
    guard let end = jwt.claims["exp"]?.integer, end > now, end <= now + 600 else {
      return "exp has passed, or is more than ten minutes away"
    }
    guard let identifier = jwt.claims["jti"]?.string,
      state.withLock({ $0.identifiers.insert(identifier).inserted })
    else { return "jti is missing, or came before" }
    return nil
  }

  /// Checks `appsecret_proof` (Facebook, Securing Graph API Requests). Then replaces the request's URL, which contains
  /// the API's version, with the URL from the dialect.
  private func graphRefusal(_ request: inout HTTPRequest) -> String? {
    let query = parameters(of: request.url)
    let path = request.url.prefix { $0 != "?" }.dropFirst("https://graph.facebook.com/".count)
    guard path == "v22.0/me" else { return "\(path) is not the profile at a version of the Graph API" }
    guard query["fields"]?.split(separator: ",").contains("id") ?? false else { return "fields lacks id" }
    let token = request.headers.first { $0.name == "Authorization" }?.value.dropFirst("Bearer ".count) ?? ""
    let bytes = (try? HMAC.sha256(key: Secret(fake.registration.secret), Array(token.utf8))) ?? []
    let expected = bytes.map { String(format: "%02x", $0) }.joined()
    guard let given = query["appsecret_proof"] else { return "API calls require an appsecret_proof argument" }
    guard given == expected, !expected.isEmpty else { return "Invalid appsecret_proof provided" }
    request.url = fake.address(of: .userinfo)
    return nil
  }
}
