// The response of a token endpoint (RFC 6749 §5.1). The code is spent when the response arrives, so an optional member
// that cannot be read counts as absent, and so does `null`. The response to a refresh token is read by RefreshAnswer,
// which never loses a rotated refresh token (R30).

public import EnrollCrypto
package import EnrollJSON

/// Tokens as they were received; nothing in them is verified.
public struct TokenResponse: Equatable, Sendable {
  public var accessToken: Secret
  public var tokenType: String
  /// The lifetime, as ``lifetimeSeconds(from:)`` reads it; nil if the server does not say.
  public var lifetimeSeconds: Int64?
  public var refreshToken: Secret?
  /// The lifetime of the refresh token; nil if the server does not say, or if the token never expires.
  public var refreshLifetimeSeconds: Int64?
  public var idToken: Secret?
  /// The granted scopes; nil if the response does not name them: the requested scopes are then granted (RFC 6749
  /// §5.1).
  public var scopes: [String]?

  /// Reads the response to a code.
  /// - Parameter binding: the token types that the response may have.
  /// - Throws: `.oauth` if the provider refuses; `.server` for 5xx, 429 and 408; `.responseInvalid` for any other
  ///   status, for a body that is not a JSON object, if the body has both `access_token` and `error`, if `access_token`
  ///   is missing or cannot be used, if the binding does not allow the `token_type`, and if `refresh_token` or
  ///   `id_token` is too long.
  public init(
    processing response: HTTPResponse, binding: DPoPBinding = .none
  ) throws(EnrollError) {
    if let error = TokenEndpointError.refusal(in: response) { throw error }
    let json = try TokenResponse.object(in: response)
    guard TokenEndpointError.oauthError(in: json, of: response) == nil else {
      throw TokenResponse.invalid("it has both access_token and error", response)
    }
    if let size = json["id_token"]?.string?.utf8.count, size > TokenText.maximumBytes {
      throw TokenResponse.invalid(
        "id_token has \(size) bytes, and \(TokenText.maximumBytes) at most can be kept: leave claims out of it at the provider",
        response)
    }
    try self.init(reading: json, of: response, binding)
  }

  /// Reads the usable members of a successful response; members of a wrong type count as absent.
  init(reading json: JSON, of response: HTTPResponse, _ binding: DPoPBinding) throws(EnrollError) {
    guard let accessToken = json["access_token"]?.string, TokenText.isAcceptable(accessToken) else {
      throw TokenResponse.invalid(
        "access_token must be 1 to \(TokenText.maximumBytes) visible characters", response)
    }
    var type = json["token_type"]?.string ?? ""
    // Some servers leave out `token_type` (OpenAuth). If there is no DPoP key, such a token can only be a Bearer token.
    if json["token_type"] == nil, binding == .none { type = "Bearer" }
    if let problem = binding.problem(with: type) { throw TokenResponse.invalid(problem, response) }
    self.accessToken = Secret(accessToken)
    tokenType = type
    lifetimeSeconds = json["expires_in"].map { TokenResponse.lifetimeSeconds(from: $0) }
    refreshToken = try TokenResponse.refreshToken(json["refresh_token"], response)
    refreshLifetimeSeconds = TokenResponse.refreshLifetimeSeconds(from: json)
    idToken = TokenResponse.token(json["id_token"])
    scopes = TokenResponse.scopes(json["scope"]).map { response.sent.hidden(inScopes: $0) }
  }
}

extension TokenResponse {
  /// The lifetime for a negative, zero or unreadable `expires_in` (R32).
  public static let defaultLifetimeSeconds: Int64 = 300
  /// The longest lifetime that is accepted (R32): a year.
  public static let maximumLifetimeSeconds: Int64 = 365 * 86_400

  /// `expires_in`: 1 to ``maximumLifetimeSeconds``. Fractions are cut off, and a string of digits is read as a number;
  /// every other value gives ``defaultLifetimeSeconds``. The lifetime is never unlimited (R32).
  static func lifetimeSeconds(from json: JSON?) -> Int64 {
    let seconds = seconds(from: json)
    return seconds > 0 ? min(seconds, maximumLifetimeSeconds) : defaultLifetimeSeconds
  }

  /// `refresh_expires_in` (Keycloak) or `refresh_token_expires_in` (Entra ID, GitHub), which no specification
  /// defines. 0 means that the refresh token does not expire.
  static func refreshLifetimeSeconds(from json: JSON) -> Int64? {
    let seconds = seconds(from: json["refresh_expires_in"] ?? json["refresh_token_expires_in"])
    return seconds > 0 ? min(seconds, maximumLifetimeSeconds) : nil
  }

  /// The expiry of the refresh token. Its lifetime is counted from the time of the request.
  func refreshExpiry(at moment: Moment) -> Expiry? {
    refreshLifetimeSeconds.map { Expiry(lifetimeSeconds: $0, from: moment) }
  }

  /// The number of seconds that a server sent as a number or as digits in a string; 0 for any other value.
  static func seconds(from json: JSON?) -> Int64 {
    switch json {
    case .integer(let value): value
    case .number(let value) where value >= 1:
      value < Double(maximumLifetimeSeconds) ? Int64(value) : maximumLifetimeSeconds
    case .string(let text): DecimalText.parse(text) ?? 0
    case .number, .null, .bool, .array, .object, nil: 0
    }
  }

  /// - Parameters:
  ///   - requestedScopes: the tokens' scopes if the server names no scopes.
  ///   - dpopKey: the key of the request's DPoP proof.
  ///   - withoutExpirySeconds: the lifetime if the server names no lifetime.
  public func tokenSet(
    requestedScopes: [String], dpopKey: DPoPKey? = nil,
    withoutExpirySeconds: Int64 = Configuration.Defaults.withoutExpirySeconds, at moment: Moment
  ) -> TokenSet {
    var tokens = TokenSet(
      accessToken: accessToken, tokenType: tokenType, refreshToken: refreshToken, idToken: idToken,
      dpopKey: dpopKey,
      scopes: scopes ?? requestedScopes,
      expiry: Expiry(lifetimeSeconds: lifetimeSeconds ?? withoutExpirySeconds, from: moment))
    if refreshToken != nil { tokens.refreshExpiry = refreshExpiry(at: moment) }
    tokens.missingScopes = missingScopes(of: requestedScopes)
    return tokens
  }

  /// The requested scopes that the server did not grant. A server may leave out `openid` and `offline_access` and
  /// return only the id_token and the refresh token (Entra ID), and may name other scopes by a URL (Google). If it
  /// names no scope at all, all requested scopes are granted (RFC 6749 §5.1), except `offline_access` without a refresh
  /// token.
  func missingScopes(of asked: [String], isRenewed: Bool = false) -> [String] {
    let isRenewable = isRenewed || refreshToken != nil
    return asked.filter { scope in
      if ASCII.equals(scope, "offline_access"), scopes == nil || isRenewable { return !isRenewable }
      if ASCII.equals(scope, "openid"), idToken != nil || isRenewed { return false }
      return !(scopes?.contains { Self.grants($0, scope) } ?? true)
    }
  }

  private static func grants(_ told: String, _ scope: String) -> Bool {
    if ASCII.equalsIgnoringCase(told, scope) { return true }
    let ending = Array(told.utf8.suffix(scope.utf8.count + 1))
    guard told.utf8.starts(with: "https://".utf8), ending.count == scope.utf8.count + 1 else { return false }
    return (ending[0] == UInt8(ascii: "/") || ending[0] == UInt8(ascii: "."))
      && ASCII.equalsIgnoringCase(String(decoding: ending.dropFirst(), as: UTF8.self), scope)
  }

  /// The tokens after a renewal. Values that the response leaves out are taken from the old tokens (R29). A new
  /// id_token is not verified yet, and does not replace the old one (R27).
  public func tokenSet(
    renewing old: TokenSet, withoutExpirySeconds: Int64 = Configuration.Defaults.withoutExpirySeconds,
    at moment: Moment
  ) -> TokenSet {
    var tokens = TokenSet(
      accessToken: accessToken, tokenType: tokenType, refreshToken: refreshToken ?? old.refreshToken,
      idToken: old.idToken, dpopKey: old.dpopKey, scopes: scopes ?? old.scopes,
      expiry: Expiry(lifetimeSeconds: lifetimeSeconds ?? withoutExpirySeconds, from: moment),
      identity: old.identity,
      unprovenIDToken: idToken ?? old.unprovenIDToken)
    tokens.refreshExpiry = refreshExpiry(at: moment)
    tokens.missingScopes =
      scopes == nil
      ? old.missingScopes
      : missingScopes(of: old.scopes + old.missingScopes, isRenewed: old.refreshToken != nil)
    tokens.audiences = old.audiences
    tokens.audiences.dropEnded(at: moment)
    return tokens
  }

  /// The tokens after a renewal for another audience: if there is a new refresh token, it replaces the old one; the
  /// access token is stored in addition to the session's own access token.
  /// - Parameter epoch: the record's epoch once the tokens are stored.
  func tokenSet(
    beside old: TokenSet, for audience: TokenAudience, epoch: UInt64, withoutExpirySeconds: Int64,
    at moment: Moment
  ) -> TokenSet {
    var tokens = old
    tokens.refreshToken = refreshToken ?? old.refreshToken
    tokens.refreshExpiry = refreshExpiry(at: moment)
    let asked = audience.scopes.isEmpty ? old.scopes : audience.scopes
    tokens.audiences.dropEnded(at: moment)
    var token = AudienceToken(
      accessToken: accessToken, tokenType: tokenType, scopes: scopes ?? asked,
      expiry: Expiry(lifetimeSeconds: lifetimeSeconds ?? withoutExpirySeconds, from: moment), epoch: epoch)
    token.deviation = deviation(from: audience)
    tokens.audiences.put(AudienceEntry(audience, token: token))
    return tokens
  }

  /// The members of the response. `null` counts as absent.
  /// - Parameter place: the kind of response, for an error text.
  static func object(
    in response: HTTPResponse, _ place: String = "token response"
  ) throws(EnrollError) -> JSON {
    do throws(JSONError) {
      let json = try JSON.parse(response.body)
      guard json.object != nil else { throw JSONError("expected an object, got \(json.kind)") }
      return json.withoutNulls
    } catch {
      if let cut = response.cut { throw cut }
      throw EnrollError(
        .responseInvalid, "\(place): the answer must be a JSON object: ", error, httpStatus: response.status)
    }
  }

  /// Reads a refresh token. EnrollKit sends it only in forms, so it may have any character (RFC 6749 §A.17); an empty
  /// text counts as absent.
  /// - Throws: `.responseInvalid` if the token is too long to be stored. If it were ignored, the loss would show only
  ///   when the session ends.
  package static func refreshToken(_ json: JSON?, _ response: HTTPResponse) throws(EnrollError) -> Secret? {
    guard let text = json?.string, !text.utf8.isEmpty else { return nil }
    guard text.utf8.count <= TokenText.maximumBytes else {
      throw invalid(
        "refresh_token has \(text.utf8.count) bytes, and \(TokenText.maximumBytes) at most can be kept",
        response)
    }
    return Secret(text)
  }

  /// An access token or id_token that can be stored; nil for anything else.
  package static func token(_ json: JSON?) -> Secret? {
    json?.string.flatMap { TokenText.isAcceptable($0) ? Secret($0) : nil }
  }

  /// Reads scopes in one of three forms: separated by spaces (RFC 6749 §3.3), separated by commas (GitHub), or as an
  /// array of such texts. nil if no scopes can be read.
  private static func scopes(_ json: JSON?) -> [String]? {
    guard let texts = json?.string.map({ [$0] }) ?? json?.array?.compactMap({ $0.string }), !texts.isEmpty
    else { return nil }
    let scopes = texts.flatMap { text in
      let separator: UInt8 = text.utf8.contains(0x20) ? 0x20 : UInt8(ascii: ",")
      return text.utf8.split(separator: separator).map { String(decoding: $0, as: UTF8.self) }
    }
    return Scopes.problem(in: scopes) == nil ? scopes : nil
  }

  private static func invalid(_ text: String, _ response: HTTPResponse) -> EnrollError {
    EnrollError(.responseInvalid, "token response: \(text)", httpStatus: response.status)
  }
}
