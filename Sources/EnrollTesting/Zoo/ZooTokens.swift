// The tokens of a provider of the zoo: what is in them, and which requests for them are refused.

import EnrollCore
import EnrollJSON

extension ZooProvider {
  /// `sub` of a user, as the provider writes it.
  public func subject(of user: String) -> String {
    switch dialect.userinfo.subjectType {
    case .text: user
    case .number: "\(user.utf8.reduce(1000) { $0 + Int($1) })"
    case .url: "\(issuer)/id/\(user)"
    }
  }

  func setTokens(_ settings: inout FakeProvider.Settings) {
    settings.claimedAlgorithm = dialect.idToken.algorithm == "HS256" ? "HS256" : nil
    settings.claims = { [unowned self] in claim(&$0) }
    settings.renewedClaims = { [unowned self] in renew(&$0) }
    settings.tokens = { [unowned self] in tell(&$0) }
    settings.userinfo = { [unowned self] in describe(&$0) }
    settings.userinfoSubject = has(.anotherUserinfoSubject) ? "mallory" : nil
  }

  private func claim(_ claims: inout JSONObject) {
    let rules = dialect.idToken
    if let issuer = rules.issuer {
      claims["iss"] = .string(
        Places.filled(filled(issuer), ["tid": has(.tenantThatIsNone) ? "organizations" : Self.tenant]))
    }
    if rules.hasTenant {
      claims["tid"] = .string(
        has(.foreignTenant) ? Self.foreignTenant : has(.tenantThatIsNone) ? "organizations" : Self.tenant)
    }
    if let audience = rules.audience { claims["aud"] = .array(audience.map { .string(filled($0)) }) }
    if has(.audienceWithoutUs) { claims["aud"] = .string("another-client") }
    if rules.hasAzp { claims["azp"] = .string(registration.clientID) }
    if !rules.hasNonce { claims["nonce"] = nil }
    if rules.profileClaims == .thin {
      claims["name"] = nil
    } else {
      claims["email"] = .string("alice@example.com")
      claims["email_verified"] = shaped(rules.emailVerified)
    }
    state.withLock { $0.claims }(&claims)
  }

  private func renew(_ claims: inout JSONObject) {
    switch dialect.refresh.authTime {
    case .same: break
    case .new: claims["auth_time"] = .integer(clock.wallTime().seconds)
    case .absent: claims["auth_time"] = nil
    }
    if has(.authTimeBackwards) { claims["auth_time"] = .integer(1_500_000_000) }
    if dialect.refresh.audience == .grows, case .array(let audience)? = claims["aud"] {
      claims["aud"] = .array(audience + [.string("new-client")])
    }
  }

  private func shaped(_ shape: Dialect.IDToken.Shape) -> JSON? {
    switch shape {
    case .boolean: .bool(true)
    case .text: .string("true")
    case .absent: nil
    }
  }

  private func tell(_ answer: inout JSONObject) {
    if let type = dialect.token.type { answer["token_type"] = .string(type) }
    if dialect.idToken.presence == .never { answer["id_token"] = nil }
    for member in dialect.token.extra.members { answer[member.key] = member.value }
    if has(.errorBesideToken) { answer["error"] = .string("server_error") }
  }

  private func describe(_ claims: inout JSONObject) {
    let rules = dialect.userinfo
    let subject = claims["sub"]
    claims["name"] = .string("Alice Example")
    claims["email_verified"] = shaped(rules.emailVerified)
    if let names = rules.claims {
      claims = JSONObject(claims.members.filter { names.contains($0.key) }.map { ($0.key, $0.value) })
    }
    if rules.emails != nil { (claims["email"], claims["email_verified"]) = (.null, nil) }
    for (claim, other) in rules.names { (claims[other], claims[claim]) = (claims[claim], nil) }
    let name = rules.subject.split(separator: ".").last.map(String.init) ?? rules.subject
    claims["sub"] = nil
    claims[name] =
      rules.subjectType == .number ? subject?.string.flatMap { Int64($0) }.map { .integer($0) } : subject
    if let wrapper = rules.wrapper { claims = JSONObject([(wrapper, .object(claims))]) }
  }

  func sendUserinfo(
    _ request: HTTPRequest, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    guard isIntroduced(request) else { return page(403) }
    return try fake.send(request, cancellation: cancellation)
  }

  func emails(_ request: HTTPRequest) -> HTTPResponse {
    guard isIntroduced(request), request.headers.contains(where: { $0.name == "Authorization" }) else {
      return page(403)
    }
    return json(
      200,
      .array([
        .object([
          ("email", .string("alice@example.com")), ("primary", .bool(true)), ("verified", .bool(true)),
        ])
      ]))
  }

  private func isIntroduced(_ request: HTTPRequest) -> Bool {
    !dialect.userinfo.requiresUserAgent
      || request.headers.contains { $0.name.lowercased() == "user-agent" && !$0.value.isEmpty }
  }

  func sendToken(
    _ request: HTTPRequest, _ cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    let form = form(request)
    if let refusal = refusal(request, form) { return refused(refusal, form) }
    if form["grant_type"] == "refresh_token" { turnRotation() }
    let response = try fake.send(request, cancellation: cancellation)
    guard case .object(let answer)? = try? JSON.parse(response.body) else { return response }
    if let error = answer["error"]?.string, answer["access_token"] == nil {
      return refused(Refusal(response.status, error), form)
    }
    remember(answer, form)
    return shown(response, answer, request, form)
  }

  /// Where tokens rotate now and then: not the first time, then every second time.
  private func turnRotation() {
    guard dialect.refresh.rotation == .sometimes else { return }
    let count = state.withLock { state in
      state.renewals += 1
      return state.renewals
    }
    fake.change { $0.rotates = count.isMultiple(of: 2) }
  }

  /// Sessions that began on a device may need no secret.
  private func remember(_ answer: JSONObject, _ form: [String: String]) {
    guard let token = answer["refresh_token"]?.string else { return }
    state.withLock { state in
      if form["device_code"] != nil || state.deviceTokens.contains(form["refresh_token"] ?? "") {
        state.deviceTokens.insert(token)
      }
    }
  }

  private func shown(
    _ response: HTTPResponse, _ answer: JSONObject, _ request: HTTPRequest, _ form: [String: String]
  ) -> HTTPResponse {
    var (response, answer) = (response, answer)
    if dialect.token.accessToken == .forAPIScope, !namesAPI {
      for name in ["access_token", "expires_in", "token_type"] { answer[name] = nil }
      response.body = JSON.object(answer).serialized()
    }
    let accepts = request.headers.contains { $0.name == "Accept" && $0.value.contains("application/json") }
    if dialect.token.isFormUnlessAccepted, !accepts {
      let fields = answer.members.map { "\($0.key)=\(encoded($0.value.string ?? text($0.value)))" }
      response.body = Array(fields.joined(separator: "&").utf8)
      response.headers = [
        HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
        HTTPHeader("Content-Length", "\(response.body.count)"),
      ]
    }
    return response
  }

  private func text(_ json: JSON) -> String { String(decoding: json.serialized(), as: UTF8.self) }

  /// Whether a scope of the session names an API, which the client's own id does, too.
  private var namesAPI: Bool {
    let own = ["openid", "profile", "email", "offline_access"]
    return state.withLock { $0.scopes }.contains { !own.contains($0) }
  }
}
