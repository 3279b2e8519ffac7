// Messages between the gateway and a provider outside of a sign-in: JWTs from the provider, and the revocation of
// tokens (RFC 7009). The proprietary revocation of Facebook and GitHub is not implemented: the gateway keeps no tokens
// of these two providers.

public import EnrollRules
import EnrollSteps
public import EnrollCrypto
import EnrollJSON

extension SignInProvider {
  /// Whether the provider answers with a form post.
  var answersByForm: Bool { dialect.answersByForm }

  /// Whether the provider can be asked to authenticate the user again.
  var supportsReauthentication: Bool { dialect.supportsReauthentication }

  /// Whether a refresh token of this provider is kept, sealed, to be revoked when its account is deleted.
  public var keepsRefreshToken: Bool { dialect.keepsRefreshToken }

  /// The audiences of the provider's notifications; nil if the provider sends no notifications.
  var notificationAudiences: [String]? { dialect.notificationAudiences }

  /// The key with which the provider signs its `signed_request` forms; nil if the provider sends no such forms.
  var requestSecret: Secret? { dialect.sendsSignedRequests ? engine.configuration.clientSecret : nil }

  var issuer: Issuer { engine.configuration.issuer }
  /// The tenants that may sign in if ``issuer`` is a template; empty for all.
  var tenants: [String] { engine.configuration.tenants }
  var clientID: String { engine.configuration.clientID.text }

  /// The configured `prompt` with which the provider opens its registration form; nil if no such `prompt` is
  /// configured, or if the provider's metadata does not list it.
  var registrationPrompt: String? {
    let announced = engine.provider.cachedMetadata?.promptValues
    return engine.configuration.registration.prompt.flatMap {
      Scopes.contains($0, in: announced ?? [$0]) ? $0 : nil
    }
  }

  /// A subject or session id together with its issuer, as ``Identity/subject`` and ``Identity/providerSession`` store
  /// it. Without the issuer, a subject is not unique.
  public func key(ofSubject subject: String, issuer: Issuer? = nil) -> String {
    (issuer ?? self.issuer).text + " " + subject
  }

  /// The claims of a JWT that this provider signed. Only the signature is checked, not the issuer, the audience or the times.
  /// - Parameter name: the kind of the JWT, for error texts.
  /// - Throws: `.idTokenInvalid`, even if the reason is that none of the freshly fetched keys fits the JWT;
  ///   `.keysUnavailable` or a network error if the signature cannot be checked now.
  func signedClaims(of text: Secret, named name: String) throws(EnrollError) -> JSONObject {
    try share.taking { () throws(EnrollError) in
      try engine.provider.claims(
        signedIn: text, named: name, algorithms: engine.idTokenAlgorithms, cancellation: nil)
    }
  }

  /// Revokes a refresh token, and the tokens that were issued with it. A token that the provider does not know counts as
  /// revoked (RFC 7009 §2.2).
  /// - Throws: `.unsupported` without a revocation endpoint, `.oauth` if the provider refuses permanently; a network error if a
  ///   later try may succeed.
  public func revoke(_ refreshToken: Secret) throws(EnrollError) {
    let answer = try share.taking { () throws(EnrollError) in
      let metadata = try engine.provider.metadata(cancellation: nil)
      guard let endpoint = metadata.revocationEndpoint else {
        throw EnrollError(.unsupported, "the provider announces no revocation endpoint")
      }
      let request = RevocationRequest.make(
        OutboxEntry.Revocation(
          clientID: engine.configuration.clientID, token: refreshToken, hint: "refresh_token"),
        endpoint: endpoint)
      return RevocationAnswer(
        processing: try engine.requests.sendAsClient(
          request, to: .revocation, of: metadata, cancellation: nil))
    }
    switch answer {
    case .revoked: return
    case .refused(let error), .later(let error): throw error
    }
  }
}
