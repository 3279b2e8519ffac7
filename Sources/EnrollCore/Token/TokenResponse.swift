// The response of a token endpoint (RFC 6749 §5.1). By then the code is spent, so an optional member that cannot be read
// counts as absent, and so does `null`. An answer to a refresh token is read by RefreshAnswer, which never loses a
// rotated token (R30).

public import EnrollCrypto
import EnrollJSON

/// Tokens as they came; nothing in them is proven.
public struct TokenResponse: Equatable, Sendable {
  public var accessToken: Secret
  public var tokenType: String
  /// As ``lifetimeSeconds(from:)`` reads it; nil when the server does not say.
  public var lifetimeSeconds: Int64?
  public var refreshToken: Secret?
  /// How long the refresh token lives; nil when the server does not say, or gives it no end.
  public var refreshLifetimeSeconds: Int64?
  public var idToken: Secret?
  /// nil when the server does not say: then they are the ones that were asked for (RFC 6749 §5.1).
  public var scopes: [String]?

  /// The answer to a code.
  /// - Parameter binding: which types of token the answer may have.
  /// - Throws: `.oauth` when the provider refuses; `.server` for 5xx, 429 and 408; `.responseInvalid` for any other
  ///   status, for what is not JSON, when `access_token` is missing or cannot be used, when `token_type` is none of the
  ///   binding's, and when `refresh_token` or `id_token` is too long.
  public init(
    processing response: HTTPResponse, binding: DPoPBinding = .none
  ) throws(EnrollError) {
    if let error = TokenEndpointError.refusal(in: response) { throw error }
    guard TokenEndpointError.oauthError(in: response) == nil else {
      throw TokenResponse.invalid("it has both access_token and error", response)
    }
    let json = try TokenResponse.object(in: response)
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
    // Some servers leave it out (OpenAuth). Without a key there are Bearer tokens alone.
    if json["token_type"] == nil, binding == .none { type = "Bearer" }
    if let problem = binding.problem(with: type) { throw TokenResponse.invalid(problem, response) }
    self.accessToken = Secret(accessToken)
    tokenType = type
    lifetimeSeconds = json["expires_in"].map { TokenResponse.lifetimeSeconds(from: $0) }
    refreshToken = try TokenResponse.refreshToken(json["refresh_token"], response)
    refreshLifetimeSeconds = TokenResponse.refreshLifetimeSeconds(from: json)
    idToken = TokenResponse.token(json["id_token"])
    scopes = TokenResponse.scopes(json["scope"])
  }
}

extension TokenResponse {
  /// The lifetime for a negative, zero or unreadable `expires_in` (R32).
  public static let defaultLifetimeSeconds: Int64 = 300
  /// The longest lifetime that is believed (R32): a year.
  public static let maximumLifetimeSeconds: Int64 = 365 * 86_400

  /// `expires_in`: 1 to ``maximumLifetimeSeconds``. Fractions are cut off, a string of digits is read as a number;
  /// whatever else is ``defaultLifetimeSeconds``. Never "forever" (R32).
  static func lifetimeSeconds(from json: JSON?) -> Int64 {
    let seconds = seconds(from: json)
    return seconds > 0 ? min(seconds, maximumLifetimeSeconds) : defaultLifetimeSeconds
  }

  /// `refresh_expires_in` (Keycloak) or `refresh_token_expires_in` (Entra ID, GitHub), which no specification has. 0 is no end.
  static func refreshLifetimeSeconds(from json: JSON) -> Int64? {
    let seconds = seconds(from: json["refresh_expires_in"] ?? json["refresh_token_expires_in"])
    return seconds > 0 ? min(seconds, maximumLifetimeSeconds) : nil
  }

  /// The end of the refresh token, from the request that brought it.
  func refreshExpiry(at moment: Moment) -> Expiry? {
    refreshLifetimeSeconds.map { Expiry(lifetimeSeconds: $0, from: moment) }
  }

  /// A number of seconds as servers write it; 0 for what is none.
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
  ///   - requestedScopes: what the tokens are for where the server does not say.
  ///   - dpopKey: with which they were asked for.
  ///   - withoutExpirySeconds: how long they live where the server does not say.
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
    return tokens
  }

  /// The tokens after a renewal: what the answer leaves out stays as it was (R29). An id_token that came is not
  /// proven yet, and does not take the old one's place (R27).
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
    tokens.audiences = old.audiences
    tokens.audiences.dropEnded(at: moment)
    return tokens
  }

  /// The tokens after a renewal for another audience: a new refresh token takes the old one's place, and the access token
  /// stands beside the session's own.
  /// - Parameter epoch: the record's, once they are stored.
  func tokenSet(
    beside old: TokenSet, for audience: TokenAudience, epoch: UInt64, withoutExpirySeconds: Int64,
    at moment: Moment
  ) -> TokenSet {
    var tokens = old
    tokens.refreshToken = refreshToken ?? old.refreshToken
    tokens.refreshExpiry = refreshExpiry(at: moment)
    let asked = audience.scopes.isEmpty ? old.scopes : audience.scopes
    tokens.audiences.dropEnded(at: moment)
    tokens.audiences.put(
      AudienceEntry(
        audience,
        token: AudienceToken(
          accessToken: accessToken, tokenType: tokenType, scopes: scopes ?? asked,
          expiry: Expiry(lifetimeSeconds: lifetimeSeconds ?? withoutExpirySeconds, from: moment), epoch: epoch
        )))
    return tokens
  }

  /// The answer's members. `null` is absence.
  /// - Parameter place: what the answer is, for an error text.
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

  /// A refresh token. It goes into forms alone, so that any character may be in it (RFC 6749 §A.17); an empty text is
  /// none.
  /// - Throws: `.responseInvalid` for one that is too long to be kept: nobody is to find out when the session ends.
  static func refreshToken(_ json: JSON?, _ response: HTTPResponse) throws(EnrollError) -> Secret? {
    guard let text = json?.string, !text.utf8.isEmpty else { return nil }
    guard text.utf8.count <= TokenText.maximumBytes else {
      throw invalid(
        "refresh_token has \(text.utf8.count) bytes, and \(TokenText.maximumBytes) at most can be kept",
        response)
    }
    return Secret(text)
  }

  /// An access token or id_token that can be kept; nil for anything else.
  static func token(_ json: JSON?) -> Secret? {
    json?.string.flatMap { TokenText.isAcceptable($0) ? Secret($0) : nil }
  }

  /// Scopes as RFC 6749 §3.3 writes them, with commas instead of spaces (GitHub), or as an array of such texts; nil for none
  /// that can be read.
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
