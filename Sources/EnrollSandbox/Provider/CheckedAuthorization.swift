// An authorization request, parsed and checked (RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core §3.1.2.1). A
// request is refused if it is for a flow other than the code flow, has no code challenge or a challenge with the method
// `plain`, or repeats a parameter.

/// A checked request of a client.
struct CheckedAuthorization: Sendable, Equatable {
  var clientID: String
  var redirectURI: String
  var scopes: [String]
  var state: String?
  var nonce: String?
  var codeChallenge: String
  var prompts: Set<Prompt>
  var maxAgeSeconds: Int64?
  var loginHint: String?
  var acrValues: [String]
  /// The token of the link in an e-mail (flows.md §3); nil if it is missing or has the wrong form.
  var activationToken: String?
  /// The thumbprint of the key to which the code is bound (RFC 9449 §10).
  var thumbprint: String?

  enum Prompt: String, CaseIterable { case none, login, consent, create, selectAccount = "select_account" }

  /// Why a request is refused. If the client or the redirect URI is not valid, the user sees an error page; otherwise
  /// the client gets the error.
  enum Refusal: Error, Equatable {
    case page(String)
    case redirect(to: String, state: String?, OAuthRefusal)
  }

  static func read(_ form: Form, clients: [SandboxClient]) throws(Refusal) -> CheckedAuthorization {
    let single = ["client_id", "redirect_uri"]
    if let name = form.repeatedName, single.contains(name) {
      throw .page("The parameter \(name) occurs twice.")
    }
    guard let clientID = form["client_id"] else { throw .page("The parameter client_id is missing.") }
    guard let client = clients.first(where: { $0.id == clientID }) else {
      throw .page("The client \(clientID) is not known. Known: \(clients.map(\.id).joined(separator: ", ")).")
    }
    guard let redirectURI = form["redirect_uri"] else {
      throw .page("The parameter redirect_uri is missing.")
    }
    guard client.allows(redirectURI: redirectURI) else {
      let known = client.redirectURIs.joined(separator: ", ")
      throw .page(
        "The redirect URI \(redirectURI) is not registered for \(client.name). Registered: \(known).")
    }
    do throws(OAuthRefusal) {
      return try read(form, client, redirectURI: redirectURI)
    } catch {
      throw .redirect(to: redirectURI, state: form["state"], error)
    }
  }

  private static func read(
    _ form: Form, _ client: SandboxClient, redirectURI: String
  ) throws(OAuthRefusal) -> CheckedAuthorization {
    if let name = form.repeatedName { throw .invalidRequest("\(name) occurs twice") }
    for name in ["request", "request_uri"] where form[name] != nil {
      throw OAuthRefusal(name + "_not_supported", "\(name) is not supported")
    }
    guard form["response_type"] == "code" else {
      throw OAuthRefusal("unsupported_response_type", "response_type must be code")
    }
    guard let challenge = form["code_challenge"] else { throw .invalidRequest("code_challenge is missing") }
    guard form["code_challenge_method"] == "S256" else {
      throw .invalidRequest("code_challenge_method must be S256")
    }
    guard PKCE.isChallenge(challenge) else {
      throw .invalidRequest("code_challenge must be 43 characters of base64url")
    }
    let scopes = form.words("scope")
    guard scopes.count <= 50 else { throw OAuthRefusal("invalid_scope", "too many scopes") }
    if let allowed = client.scopes, let other = scopes.first(where: { !allowed.contains($0) }) {
      throw OAuthRefusal("invalid_scope", "the client is not registered for the scope \(other)")
    }
    var prompts: Set<Prompt> = []
    for word in form.words("prompt") {
      guard let prompt = Prompt(rawValue: word) else { throw .invalidRequest("prompt \(word) is not known") }
      prompts.insert(prompt)
    }
    guard !prompts.contains(.none) || prompts.count == 1 else {
      throw .invalidRequest("prompt none stands alone")
    }
    var maxAge: Int64?
    if let text = form["max_age"] {
      guard let seconds = Int64(text), seconds >= 0 else { throw .invalidRequest("max_age must be seconds") }
      maxAge = seconds
    }
    if let thumbprint = form["dpop_jkt"], !PKCE.isChallenge(thumbprint) {
      throw .invalidRequest("dpop_jkt must be 43 characters of base64url")
    }
    return CheckedAuthorization(
      clientID: client.id, redirectURI: redirectURI, scopes: scopes, state: form["state"],
      nonce: form["nonce"], codeChallenge: challenge, prompts: prompts, maxAgeSeconds: maxAge,
      loginHint: form["login_hint"], acrValues: form.words("acr_values"),
      activationToken: form["activation_token"].flatMap { PKCE.isChallenge($0) ? $0 : nil },
      thumbprint: form["dpop_jkt"])
  }
}

/// Authentication context classes (OpenID Connect Core §2, `acr`), the weakest first.
enum ContextClass: String, CaseIterable, Codable, Comparable, Sendable {
  case password = "urn:enroll:password"
  case twoFactors = "urn:enroll:two-factors"

  static func < (left: ContextClass, right: ContextClass) -> Bool {
    left == .password && right == .twoFactors
  }

  var methods: [String] { self == .password ? ["pwd"] : ["pwd", "otp", "mfa"] }
}
