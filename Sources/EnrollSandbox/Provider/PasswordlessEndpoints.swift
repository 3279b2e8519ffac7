// Passwordless sign-in as in Auth0: `POST /passwordless/start`, the one-time code at the token endpoint, and the page of an
// e-mail link. That page has a button, so that a mail scanner that opens the link does not use it up.

import EnrollJSON

extension Provider {
  func startPasswordless(_ http: SandboxRequest) -> SandboxAnswer {
    do throws(OAuthRefusal) {
      let wish = try wish(http)
      switch wish.authorization {
      case nil:
        passwordless.sendCode(to: wish.address, realm: wish.realm, clientID: wish.clientID, now: now)
      case let request?:
        passwordless.sendLink(
          to: wish.address, request: request, ticket: Encoding.randomToken(),
          at: issuer + Endpoint.passwordlessLink.path, now: now)
      }
      let name = wish.realm == "email" ? "email" : "phone_number"
      return .json(
        .object([("_id", .string(Encoding.randomToken())), (name, .string(wish.address))]))
    } catch {
      return Misbehaviour.refusal(error)
    }
  }

  private struct Wish {
    var clientID: String
    var realm: String
    var address: String
    /// The authorization request that the link continues; nil if a code is sent instead of a link.
    var authorization: CheckedAuthorization?
  }

  private func wish(_ http: SandboxRequest) throws(OAuthRefusal) -> Wish {
    guard http.headers["content-type"]?.lowercased().hasPrefix("application/json") == true,
      let body = try? JSON.parse(http.body), body.object != nil
    else { throw .invalidRequest("the body must be a JSON object") }
    guard let client = client(body["client_id"]?.string), body["client_secret"] == nil else {
      throw OAuthRefusal("unauthorized_client", "client_id is missing or not known", status: 401)
    }
    switch body["connection"]?.string {
    case "email":
      guard let address = body["email"]?.string, Self.isAddress(address) else {
        throw OAuthRefusal("bad.email", "email must be an e-mail address")
      }
      var wish = Wish(clientID: client.id, realm: "email", address: address.lowercased())
      // Unless the request asks for a code, a link is sent, as in Auth0.
      if body["send"]?.string != "code" { wish.authorization = try authorization(body["authParams"], client) }
      return wish
    case "sms":
      guard let number = body["phone_number"]?.string, Self.isNumber(number) else {
        throw OAuthRefusal("bad.phone_number", "phone_number must be + and 8 to 15 digits")
      }
      return Wish(clientID: client.id, realm: "sms", address: number)
    default: throw OAuthRefusal("bad.connection", "connection must be email or sms")
    }
  }

  private func authorization(_ parameters: JSON?, _ client: SandboxClient) throws(OAuthRefusal)
    -> CheckedAuthorization
  {
    var form = Form([("client_id", client.id)])
    for member in parameters?.object?.members ?? [] { form.append(member.key, member.value.string) }
    do throws(CheckedAuthorization.Refusal) {
      return try CheckedAuthorization.read(form, clients: options.clients)
    } catch {
      switch error {
      case .page(let reason): throw .invalidRequest(reason)
      case .redirect(_, _, let refusal): throw refusal
      }
    }
  }

  /// Handles the passwordless grant at the token endpoint.
  func redeemOneTimeCode(
    _ form: Form, clientID: String, key: String?, effects: [Fault.Effect]
  ) throws(OAuthRefusal) -> SandboxAnswer {
    guard let realm = form["realm"], let typed = form["username"], let code = form["otp"] else {
      throw .invalidRequest("realm, username and otp are needed")
    }
    let address = realm == "email" ? typed.lowercased() : typed
    try passwordless.redeem(code, of: address, realm: realm, clientID: clientID, now: now)
    let scopes = form.words("scope")
    return open(
      UserGrant(
        userName: member(address, realm: realm).name, clientID: clientID,
        scopes: scopes.isEmpty ? ["openid"] : scopes, nonce: nil, authTime: now, contextClass: .password,
        sessionID: Encoding.randomToken()), key: key, effects: effects)
  }

  func passwordlessLink(_ http: SandboxRequest) -> SandboxAnswer {
    guard let form = http.method == "POST" ? http.form : Form(encoded: http.query) else {
      return Page.error("The form cannot be read.").answer()
    }
    guard let ticket = form["ticket"], let link = passwordless.link(ticket, now: now),
      let client = client(link.request.clientID)
    else { return Page.error("This link was used before, or is too old.").answer() }
    guard http.method == "POST" else {
      return Page.openLink(ticket: ticket, address: link.address, client: client, request: link.request)
        .answer()
    }
    passwordless.useUp(ticket)
    let session = BrowserSession(
      userName: member(link.address, realm: "email").name, authTime: now, contextClass: .password,
      sessionID: Encoding.randomToken())
    return grant(link.request, to: session, effects: [])
  }

  /// The user with that address; a new user if nobody has the address.
  private func member(_ address: String, realm: String) -> User {
    if realm == "email", let known = users.first(where: { $0.email.lowercased() == address }) { return known }
    let letters = address.lowercased().filter { ($0.isLetter || $0.isNumber) && $0.isASCII }
    let name = (realm == "email" ? "mail-" : "phone-") + letters
    if let known = user(name) { return known }
    let made = User(
      name, givenName: "New", familyName: "Member", email: realm == "email" ? address : nil,
      emailVerified: realm == "email", password: Encoding.randomToken())
    users.append(made)
    return made
  }

  private static func isAddress(_ text: String) -> Bool {
    let sides = text.split(separator: "@", omittingEmptySubsequences: false)
    return sides.count == 2 && sides.allSatisfy { !$0.isEmpty } && text.utf8.count <= 320
      && !text.contains { $0.isWhitespace || $0.isNewline }
  }

  private static func isNumber(_ text: String) -> Bool {
    text.hasPrefix("+") && (8...15).contains(text.dropFirst().count)
      && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
  }
}
