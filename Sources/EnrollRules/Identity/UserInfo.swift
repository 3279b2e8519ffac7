// The userinfo endpoint (OpenID Connect Core §5.3). The access token is only sent in the header (R31), and claims about
// another user are discarded (R28). A claim that is `null` is absent (§5.3.2). Signed responses (`application/jwt`) are
// refused.

public import EnrollCrypto
public import EnrollJSON

public enum UserInfo {
  public static func request(endpoint: String, accessToken: Secret, tokenType: String) -> HTTPRequest {
    // RFC 6750 §2.1, RFC 9449 §7.1. Servers write `token_type` in different ways, but all of them accept these two
    // spellings.
    let scheme = ASCII.equalsIgnoringCase(tokenType, "DPoP") ? "DPoP" : "Bearer"
    return HTTPRequest(
      .get, endpoint,
      headers: [
        HTTPHeader("Authorization", "\(scheme) \(accessToken.reveal())"),
        HTTPHeader("Accept", "application/json"),
      ])
  }

  /// Reads the claims of a response.
  /// - Parameters:
  ///   - subject: the id_token's `sub`; nil if there was no id_token.
  ///   - mapping: the paths of the claims, for a provider without OpenID Connect.
  /// - Throws: `.profileMismatch` for another `sub`; `.oauth` if the token is refused; `.server` for 5xx, 429 and 408;
  ///   `.unsupported` for a signed response; `.responseInvalid` for anything else that is not an object with a `sub`.
  public static func accept(
    _ response: HTTPResponse, subject: String?, mapping: ProfileMapping? = nil
  ) throws(EnrollError) -> JSONObject {
    let status = response.status
    guard status == 200 else {
      let isTrouble = status == 408 || status == 429 || status >= 500
      let isRefusal = status == 401 || status == 403
      let words = ServerWords(ofChallengeIn: response)
      throw EnrollError(
        isTrouble ? .server : isRefusal ? .oauth : .responseInvalid,
        "expected userinfo, got status \(status)\(isTrouble ? response.place : "")\(words.text)\(words.advice)"
          + (isTrouble ? RetryAfter.words(of: response) : ""),
        httpStatus: status, oauthError: words.code, oauthErrorDescription: words.description,
        retryAfterSeconds: isTrouble ? RetryAfter.seconds(of: response) : nil)
    }
    try check(contentType: response.header("Content-Type"))
    var claims: JSONObject
    do throws(JSONError) {
      let json = try JSON.parse(response.body)
      guard let object = json.object else { throw JSONError("expected an object, got \(json.kind)") }
      claims = object.withoutNulls
    } catch {
      throw EnrollError(.responseInvalid, "userinfo must be a JSON object: ", error, httpStatus: status)
    }
    if let mapping { claims = try mapping.claims(in: claims) }
    guard let sub = claims["sub"]?.string, !sub.utf8.isEmpty else {
      throw EnrollError(.responseInvalid, "userinfo has no sub (OpenID Connect Core §5.3.2)", field: "sub")
    }
    if let subject { try check(claims, isAbout: subject) }
    return try response.sent.hiddenChecked(inClaims: claims)
  }

  /// - Throws: `.profileMismatch`.
  package static func check(_ claims: JSONObject, isAbout subject: String) throws(EnrollError) {
    guard let sub = claims["sub"]?.string, ASCII.equals(sub, subject) else {
      throw EnrollError(
        .profileMismatch,
        "userinfo is about another sub than the id_token, and is not used (OpenID Connect Core §5.3.2): give the client one "
          + "subject type at the provider, or correct the provider's userinfo endpoint",
        field: "sub")
    }
  }

  /// Accepts only JSON. A provider sends a JWT instead if the client is registered for that (OpenID Connect Core
  /// §5.3.2).
  private static func check(contentType: String?) throws(EnrollError) {
    let type = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    let name = String(decoding: type, as: UTF8.self)
    if ASCII.equalsIgnoringCase(name, "application/json") { return }
    if ASCII.equalsIgnoringCase(name, "application/jwt") {
      throw EnrollError(
        .unsupported,
        "userinfo is a signed or encrypted JWT, and EnrollKit reads plain JSON: at the provider, remove the client's "
          + "userinfo_signed_response_alg and userinfo_encrypted_response_alg")
    }
    throw EnrollError(
      .responseInvalid,
      "userinfo must be application/json; its Content-Type is '\(PrintableText.bounded(name, maximumBytes: 64))'"
    )
  }
}
