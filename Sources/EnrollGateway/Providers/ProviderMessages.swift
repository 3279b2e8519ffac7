// What the gateway and a provider tell each other beside a sign-in: signed texts from the provider, the end of a token to it
// (RFC 7009). A provider's own ways of revoking (Facebook, GitHub) are not played: nothing of theirs is kept.

public import EnrollCore
public import EnrollCrypto
import EnrollJSON

extension SignInProvider {
  /// The browser comes back with a form.
  var answersByForm: Bool { dialect.answersByForm }

  /// A proof of who somebody is asks the person again.
  var asksAgain: Bool { dialect.asksAgain }

  /// A refresh token of this provider is kept, sealed, to be revoked when its account is deleted.
  public var keepsRefreshToken: Bool { dialect.keepsRefreshToken }

  /// nil where the provider tells nothing; else for whom its notifications are.
  var notificationAudiences: [String]? { dialect.notificationAudiences }

  /// By which the provider signs the forms that it sends (`signed_request`); nil where it sends none.
  var requestSecret: Secret? { dialect.sendsSignedRequests ? engine.configuration.clientSecret : nil }

  var issuer: Issuer { engine.configuration.issuer }
  /// Those that may sign in, where ``issuer`` is a template; empty for all.
  var tenants: [String] { engine.configuration.tenants }
  var clientID: String { engine.configuration.clientID.text }

  /// As ``Identity/subject`` and ``Identity/providerSession`` have it: a name is unique at its issuer alone.
  public func key(ofSubject subject: String, issuer: Issuer? = nil) -> String {
    (issuer ?? self.issuer).text + " " + subject
  }

  /// The claims of a JWT that this provider signed. Nothing else is judged: not its issuer, its audience, its time.
  /// - Throws: `.idTokenInvalid`; `.keysUnavailable` and its kin when nobody can tell now.
  func signedClaims(of text: Secret) throws(EnrollError) -> JSONObject {
    try share.taking { () throws(EnrollError) in
      try engine.provider.claims(
        signedIn: text, algorithms: engine.configuration.idTokenAlgorithms, cancellation: nil)
    }
  }

  /// Tells the provider to forget a refresh token, and all that came of it. An unknown one counts as forgotten (RFC 7009 §2.2).
  /// - Throws: `.unsupported` without such an endpoint, `.oauth` when the provider will never do it; `.network` and its kin
  ///   when it may do so later.
  public func revoke(_ refreshToken: Secret) throws(EnrollError) {
    let answer = try share.taking { () throws(EnrollError) in
      let metadata = try engine.provider.metadata(cancellation: nil)
      guard let endpoint = metadata.revocationEndpoint else {
        throw EnrollError(.unsupported, "the provider announces no revocation endpoint")
      }
      let configuration = engine.configuration
      let request = RevocationRequest.make(
        OutboxEntry.Revocation(
          clientID: configuration.clientID, token: refreshToken, hint: "refresh_token"), endpoint: endpoint,
        from: ClientAuthentication(configuration, at: metadata))
      return RevocationAnswer(processing: try engine.transport.send(request, cancellation: nil))
    }
    switch answer {
    case .revoked: return
    case .refused(let error), .later(let error): throw error
    }
  }
}
