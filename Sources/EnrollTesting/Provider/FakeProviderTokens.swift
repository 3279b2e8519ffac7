// The token endpoint of the fake provider.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON

extension FakeProvider {
  func token(_ request: HTTPRequest) throws(EndpointError) -> HTTPResponse {
    let form = form(request)
    do throws(EndpointError) {
      let answer = try tokens(form, thumbprint(of: request, .token))
      remember(answer, form)
      return shown(answer, request)
    } catch {
      return refused(error, form)
    }
  }

  private func tokens(
    _ form: [String: String], _ thumbprint: String?
  ) throws(EndpointError) -> JSONObject {
    switch form["grant_type"] {
    case "authorization_code": return try redeemCode(form, thumbprint)
    case "refresh_token": return try renew(form, thumbprint)
    case "http://auth0.com/oauth/grant-type/passwordless/otp": return try redeemOneTimeCode(form)
    case "urn:ietf:params:oauth:grant-type:device_code":
      return try poll(form["device_code"] ?? "", thumbprint)
    default: throw EndpointError(400, "unsupported_grant_type")
    }
  }

  private func redeemCode(
    _ form: [String: String], _ thumbprint: String?
  ) throws(EndpointError) -> JSONObject {
    guard var grant = spend(form["code"] ?? ""),
      grant.redirectURI == form["redirect_uri"], grant.clientID == form["client_id"],
      grant.thumbprint == nil || grant.thumbprint == thumbprint,
      let digest = try? Digest.sha256.hash(Array((form["code_verifier"] ?? "").utf8)),
      Base64URL.encode(digest) == grant.challenge
    else { throw EndpointError(400, "invalid_grant") }
    grant.thumbprint = thumbprint
    return tokens(for: grant, isRefresh: false)
  }

  /// Uses up a code. A second use may end the session, as the dialect says (RFC 6749 §4.1.2).
  /// - Returns: the grant; nil if the code is unknown or was used.
  @discardableResult
  func spend(_ code: String) -> Grant? {
    state.withLock { state in
      if let grant = state.codes.removeValue(forKey: code) {
        state.spentCodes[code] = grant.family
        return grant
      }
      if dialect.refresh.spentCode == .endsSession, let family = state.spentCodes[code] {
        state.refreshTokens = state.refreshTokens.filter { $0.value.family != family }
      }
      return nil
    }
  }

  private func renew(_ form: [String: String], _ thumbprint: String?) throws(EndpointError) -> JSONObject {
    turnRotation()
    let given = form["refresh_token"] ?? ""
    var audience = Audience(resource: form["resource"], scope: form["scope"])
    // A provider that ignores `scope` may still refuse an unknown scope.
    if dialect.refresh.scope == .ignored, dialect.refusals.scope == nil || grants(form) {
      audience.scope = nil
    }
    if let error = audienceError(audience, of: given) { throw EndpointError(400, error) }
    guard var grant = rotate(given, thumbprint) else { throw EndpointError(400, "invalid_grant") }
    var limit = audience == Audience() ? nil : audience
    if state.withLock({ $0.settings.narrowsSessions }) {
      if audience.scope != nil { grant.scopes = words(audience.scope) }
      grant.resource = grant.resource ?? audience.resource
      limit = limit ?? Audience(scope: grant.scopes.joined(separator: " "))
    }
    var answer = tokens(for: grant, isRefresh: true, audience: limit)
    if dialect.refresh.rotation == .never, dialect.refresh.bringsRefreshToken {
      answer["refresh_token"] = .string(given)
    }
    return answer
  }

  /// Finds the grant of a refresh token, and rotates the token if the settings say so.
  /// - Returns: nil if the token is not valid.
  private func rotate(_ token: String, _ thumbprint: String?) -> Grant? {
    let now = clock.wallTime()
    return state.withLock { state -> Grant? in
      let grace = state.settings.graceSeconds
      guard var grant = state.refreshTokens[token], grant.thumbprint == thumbprint,
        grant.rotated.map({ now.since($0) <= grace }) ?? true
      else {
        if dialect.refresh.reuse == .family, let family = state.rotatedTokens[token] {
          state.refreshTokens = state.refreshTokens.filter { $0.value.family != family }
        }
        return nil
      }
      guard state.settings.rotates, dialect.refresh.reuse != .keepsWorking else { return grant }
      state.refreshTokens = state.refreshTokens.filter {
        $0.value.rotated.map { now.since($0) <= grace } ?? true
      }
      grant.rotated = grant.rotated ?? now
      state.refreshTokens[token] = grace > 0 ? grant : nil
      state.rotatedTokens[token] = grant.family
      grant.rotated = nil
      return grant
    }
  }

  /// Decides whether this renewal rotates the refresh token. If a dialect rotates only sometimes, every
  /// second renewal rotates it, beginning with the second.
  private func turnRotation() {
    guard dialect.refresh.rotation == .sometimes else { return }
    state.withLock { state in
      state.renewals += 1
      state.settings.rotates = state.renewals.isMultiple(of: 2)
    }
  }

  /// Whether all scopes of this renewal were granted to its session.
  private func grants(_ form: [String: String]) -> Bool {
    let granted = state.withLock { $0.refreshTokens[form["refresh_token"] ?? ""]?.scopes } ?? []
    return words(form["scope"]).allSatisfy(granted.contains)
  }

  /// The error if a renewal with this token names a resource or scopes that it must not name (RFC 8707 §2, RFC 6749
  /// §6). The token stays valid.
  private func audienceError(_ audience: Audience, of refreshToken: String) -> String? {
    state.withLock { state in
      if let resource = audience.resource, !state.settings.resources.contains(resource) {
        return "invalid_target"
      }
      guard let grant = state.refreshTokens[refreshToken] else { return nil }
      if let resource = audience.resource, let bound = grant.resource, resource != bound {
        return "invalid_grant"
      }
      return words(audience.scope).allSatisfy(grant.scopes.contains) ? nil : "invalid_scope"
    }
  }

  private func redeemOneTimeCode(_ form: [String: String]) throws(EndpointError) -> JSONObject {
    let subject = state.withLock { state -> String? in
      guard form["otp"] == state.settings.oneTimeCode,
        let index = state.recipients.firstIndex(where: { $0 == form["username"] })
      else { return nil }
      state.recipients.remove(at: index)
      return state.settings.subject
    }
    guard let subject else { throw EndpointError(403, "invalid_grant") }
    let grant = Grant(
      clientID: form["client_id"] ?? "", subject: subject,
      hasOpenID: words(form["scope"]).contains("openid"))
    return tokens(for: grant, isRefresh: false)
  }

  /// Answers a poll with a device code (RFC 8628 §3.5).
  private func poll(_ deviceCode: String, _ thumbprint: String?) throws(EndpointError) -> JSONObject {
    let (grant, error) = state.withLock { state -> (Grant?, String?) in
      if let error = state.settings.deviceError { return (nil, error) }
      return (state.deviceCodes.removeValue(forKey: deviceCode), nil)
    }
    guard var grant else { throw EndpointError(400, error ?? "invalid_grant") }
    grant.thumbprint = thumbprint
    return tokens(for: grant, isRefresh: false)
  }

  private func tokens(for grant: Grant, isRefresh: Bool, audience: Audience? = nil) -> JSONObject {
    let (number, settings) = state.withLock { state in
      state.issued += 1
      return (state.issued, state.settings)
    }
    let (access, refresh) = ("access-\(number)", "refresh-\(number)\(settings.refreshTokenSuffix)")
    let givesRefreshToken = settings.givesRefreshToken(for: grant.scopes, isRefresh: isRefresh)
    let isBound = grant.thumbprint != nil && !settings.answersBearer
    state.withLock { state in
      if givesRefreshToken { state.refreshTokens[refresh] = grant }
      if let audience { state.audiences[access] = audience }
      if isBound { state.bound[access] = grant.thumbprint }
    }
    let givesIDToken =
      isRefresh
      ? settings.givesIDTokenOnRefresh && (grant.hasOpenID || settings.givesIDTokenUnasked) : grant.hasOpenID
    let given = audience?.scope.map { words($0) } ?? grant.scopes
    let scope = settings.scopeSeparator.map { given.joined(separator: $0) } ?? audience?.scope
    var answer = JSONObject([
      ("access_token", .string(access)), ("token_type", .string(isBound ? "DPoP" : "Bearer")),
      ("expires_in", settings.lifetime),
      ("refresh_token", givesRefreshToken ? .string(refresh) : nil),
      ("scope", scope.map { .string($0) }),
      ("id_token", givesIDToken ? .string(idToken(for: grant, isRefresh: isRefresh, settings)) : nil),
    ])
    if let type = dialect.token.type { answer["token_type"] = type == "absent" ? nil : .string(type) }
    if dialect.idToken.presence == .never { answer["id_token"] = nil }
    for member in dialect.token.extra.members { answer[member.key] = member.value }
    if has(.errorBesideToken) { answer["error"] = .string("server_error") }
    settings.tokens(&answer)
    return answer
  }

  /// Remembers the refresh tokens of sessions that began with a device code. At some providers, renewals with such
  /// tokens need no client secret.
  private func remember(_ answer: JSONObject, _ form: [String: String]) {
    guard let token = answer["refresh_token"]?.string else { return }
    state.withLock { state in
      if form["device_code"] != nil || state.deviceTokens.contains(form["refresh_token"] ?? "") {
        state.deviceTokens.insert(token)
      }
    }
  }

  private func shown(_ answer: JSONObject, _ request: HTTPRequest) -> HTTPResponse {
    var answer = answer
    if dialect.token.accessToken == .forAPIScope, !namesAPI {
      for name in ["access_token", "expires_in", "token_type"] { answer[name] = nil }
    }
    let accepts = request.headers.contains { $0.name == "Accept" && $0.value.contains("application/json") }
    guard dialect.token.isFormUnlessAccepted, !accepts else {
      return json(200, .object(answer), headers: state.withLock { $0.settings.tokenHeaders })
    }
    let fields = answer.members.map { "\($0.key)=\(encoded($0.value.string ?? text($0.value)))" }
    let body = Array(fields.joined(separator: "&").utf8)
    return HTTPResponse(
      status: 200,
      headers: [
        HTTPHeader("Content-Type", "application/x-www-form-urlencoded"),
        HTTPHeader("Content-Length", "\(body.count)"),
      ], body: body)
  }

  private func text(_ json: JSON) -> String { String(decoding: json.serialized(), as: UTF8.self) }

  /// Whether a scope of the session names an API; the client's own id counts as an API.
  private var namesAPI: Bool {
    let own = ["openid", "profile", "email", "offline_access"]
    return state.withLock { $0.scopes }.contains { !own.contains($0) }
  }
}
