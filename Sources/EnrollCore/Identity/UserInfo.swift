// The userinfo endpoint (OpenID Connect Core §5.3): the access token goes into the header and nowhere else (R31), and
// claims about somebody else are discarded (R28). A claim that is `null` is absent (§5.3.2). Signed answers (`application/jwt`) are refused.

public import EnrollCrypto
public import EnrollJSON

public enum UserInfo {
  public static func request(endpoint: String, accessToken: Secret, tokenType: String) -> HTTPRequest {
    // RFC 6750 §2.1, RFC 9449 §7.1; servers differ in how they write `token_type`, and agree on how they read this.
    let scheme = ASCII.equalsIgnoringCase(tokenType, "DPoP") ? "DPoP" : "Bearer"
    return HTTPRequest(
      .get, endpoint,
      headers: [
        HTTPHeader("Authorization", "\(scheme) \(accessToken.reveal())"),
        HTTPHeader("Accept", "application/json"),
      ])
  }

  /// The claims.
  /// - Parameters:
  ///   - subject: the id_token's `sub`; nil where no id_token came.
  ///   - mapping: where the claims are in the answer of a provider without OpenID Connect.
  /// - Throws: `.profileMismatch` for another `sub`; `.oauth` when the token is refused; `.server` for 5xx and 429;
  ///   `.unsupported` for a signed answer; `.responseInvalid` for anything that is not an object with a `sub`.
  public static func accept(
    _ response: HTTPResponse, subject: String?, mapping: ProfileMapping? = nil
  ) throws(EnrollError) -> JSONObject {
    let status = response.status
    guard status == 200 else {
      let isTrouble = status == 408 || status == 429 || status >= 500
      let isRefusal = status == 401 || status == 403
      throw EnrollError(
        isTrouble ? .server : isRefusal ? .oauth : .responseInvalid,
        "expected userinfo, got status \(status)",
        httpStatus: status, retryAfterSeconds: isTrouble ? RetryAfter.seconds(of: response) : nil)
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
  static func check(_ claims: JSONObject, isAbout subject: String) throws(EnrollError) {
    guard let sub = claims["sub"]?.string, ASCII.equals(sub, subject) else {
      throw EnrollError(
        .profileMismatch, "userinfo is about another sub than the id_token", field: "sub")
    }
  }

  /// OpenID Connect Core §5.3.2: JSON, or a JWT where the client was registered for that.
  private static func check(contentType: String?) throws(EnrollError) {
    let type = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    let name = String(decoding: type, as: UTF8.self)
    if ASCII.equalsIgnoringCase(name, "application/json") { return }
    if ASCII.equalsIgnoringCase(name, "application/jwt") {
      throw EnrollError(
        .unsupported, "userinfo is a signed JWT; set plain JSON for the client at the provider")
    }
    throw EnrollError(
      .responseInvalid,
      "userinfo must be application/json; its Content-Type is '\(PrintableText.bounded(name, maximumBytes: 64))'"
    )
  }
}
