// Asking the provider what it holds of a token (RFC 7662). Refused: answers without a plain `active`, and signed ones
// (`application/token-introspection+jwt`, RFC 9701).

public import EnrollCrypto
public import EnrollJSON

/// The question what the provider holds of a token, and its answer (RFC 7662 §2).
public enum Introspection {
  /// Which of the session's tokens is asked about.
  public enum Subject: String, Sendable, CaseIterable {
    /// The token that requests carry.
    case accessToken
    /// The token that renews it.
    case refreshToken

    /// RFC 7662 §2.1.
    var hint: String { self == .accessToken ? "access_token" : "refresh_token" }
  }

  /// RFC 7662 §2.1.
  /// - Parameter shown: whose access token goes into the header as well, for servers that want a public client to
  ///   prove itself with it (Glewlwyd, Keycloak); others refuse a second kind of credentials.
  public static func request(
    endpoint: String, token: Secret, subject: Subject, from client: ClientAuthentication,
    showing shown: TokenSet? = nil
  ) -> HTTPRequest {
    var form = FormEncoding(.body)
    form.add("token", token)
    form.add("token_type_hint", subject.hint)
    var headers: [HTTPHeader] = []
    if let shown {
      let scheme = shown.proofKey == nil ? "Bearer" : "DPoP"
      headers.append(HTTPHeader("Authorization", "\(scheme) \(shown.accessToken.reveal())"))
    }
    return client.request(form, to: endpoint, headers: headers)
  }

  /// The answer's members, of which `active` is true or false; of a token that is not active a server tells no more.
  /// Members that repeat a token are left out (R40).
  /// - Throws: `.oauth` when the provider refuses; `.server` for 5xx, 429 and 408; `.responseInvalid` otherwise.
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

extension Engine {
  /// The provider's answer about one of the session's tokens; the token itself is not returned.
  /// - Throws: as ``livingTokens()``; `.notFound` when there is no such token; `.unsupported`
  ///   without an endpoint, and for a back end's session token; `.oauth` when the provider tells this client nothing.
  public func introspect(
    _ subject: Introspection.Subject, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject {
    let (_, tokens) = try livingTokens()
    // A back end's session token means nothing to the issuer, and must not be shown to it.
    guard tokens.source == .issuer,
      let endpoint = try provider.metadata(cancellation: cancellation).introspectionEndpoint
    else { throw EnrollError(.unsupported, "the provider announces no introspection endpoint") }
    guard let token = subject == .accessToken ? tokens.accessToken : tokens.refreshToken else {
      throw EnrollError(.notFound, "the provider gave no refresh token", field: "token")
    }
    let metadata = try provider.metadata(cancellation: cancellation)
    let client = ClientAuthentication(configuration, at: metadata)
    let (first, second) = client.ways(at: metadata.introspectionSecretMethods)
    let secrets = SentSecrets(of: tokens)
    func ask(_ client: ClientAuthentication) throws(EnrollError) -> JSONObject {
      secrets.hidden(
        in: try Introspection.accept(
          transport.send(
            Introspection.request(
              endpoint: endpoint, token: token, subject: subject, from: client),
            cancellation: cancellation)))
    }
    do throws(EnrollError) {
      return try ask(first)
    } catch {
      guard error.wantsAccessToken, second != nil || !client.hasSecret else { throw error }
    }
    if let second { return try ask(second) }
    return secrets.hidden(
      in: try Introspection.accept(
        send(
          Introspection.request(
            endpoint: endpoint, token: token, subject: subject, from: client,
            showing: tokens),
          provenBy: tokens.proofKey, accessToken: tokens.accessToken, cancellation: cancellation)))
  }
}

extension EnrollError {
  /// The server did not take the client's id for enough: its access token may help.
  var wantsAccessToken: Bool {
    httpStatus == 401 || httpStatus == 403 || oauthError.map { ASCII.equals($0, "invalid_client") } ?? false
  }
}
