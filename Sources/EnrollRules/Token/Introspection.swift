// Token introspection: asking the provider about a token (RFC 7662). Responses without a boolean `active` are refused,
// and so are signed responses (`application/token-introspection+jwt`, RFC 9701).

public import EnrollCrypto
public import EnrollJSON

/// An introspection request and its response (RFC 7662 §2).
public enum Introspection {
  /// The session's token that the request is about.
  public enum Subject: String, Sendable, CaseIterable {
    /// The access token.
    case accessToken
    /// The refresh token.
    case refreshToken

    /// The value of `token_type_hint` (RFC 7662 §2.1).
    var hint: String { self == .accessToken ? "access_token" : "refresh_token" }
  }

  /// The introspection request (RFC 7662 §2.1).
  /// - Parameter shown: the tokens whose access token the request also sends in its header; nil if the header has no
  ///   token. Some servers require the access token from a public client (Glewlwyd, Keycloak); other servers refuse a
  ///   second kind of credentials.
  public static func request(
    endpoint: String, token: Secret, subject: Subject, showing shown: TokenSet? = nil
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("token", token)
    form.add("token_type_hint", subject.hint)
    var headers: [HTTPHeader] = []
    if let shown {
      let scheme = shown.proofKey == nil ? "Bearer" : "DPoP"
      headers.append(HTTPHeader("Authorization", "\(scheme) \(shown.accessToken.reveal())"))
    }
    return HTTPRequest(form: form, to: endpoint, headers: headers)
  }

  /// The members of the response. `active` is true or false; if it is false, a server sends no other members. Members
  /// that repeat a token are left out (R40).
  /// - Throws: `.oauth` if the provider refuses; `.server` for 5xx, 429 and 408; `.responseInvalid` otherwise.
  public static func accept(_ response: HTTPResponse) throws(EnrollError) -> JSONObject {
    if let error = TokenEndpointError.read(response, expecting: "an introspection response") { throw error }
    let json = try TokenResponse.object(in: response, "introspection")
    guard let members = json.object, members["active"]?.bool != nil else {
      throw EnrollError(
        .responseInvalid, "introspection: active must be true or false (RFC 7662 §2.2)",
        httpStatus: response.status)
    }
    return response.sent.hidden(in: members)
  }
}

extension EnrollError {
  /// The error for a token that the provider calls inactive although it has not expired.
  package static func inactive(_ subject: Introspection.Subject) -> EnrollError {
    EnrollError(
      .rejected,
      "introspection: the provider calls the \(subject == .accessToken ? "access" : "refresh") token inactive. Either it has ended "
        + "the session, or it tells this client nothing about tokens that do not name it in aud (Keycloak: add an audience mapper)"
    )
  }

  /// Whether the server requires more credentials than the client id. If so, the request may succeed with the access
  /// token.
  package var wantsAccessToken: Bool {
    httpStatus == 401 || httpStatus == 403 || oauthError.map { ASCII.equals($0, "invalid_client") } ?? false
  }
}
