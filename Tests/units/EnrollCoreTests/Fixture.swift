// The provider and the client that most tests of the rules use.

import EnrollRules
import EnrollCrypto
import Testing

enum Fixture {
  static let issuer = "https://id.example.com"

  static func configuration(
    redirectURI: String = "com.example.app:/cb", scopes: [String] = ["openid", "profile"],
    postLogoutRedirectURI: String? = "com.example.app.oauth:/logout/callback",
    parameters: [(String, String)] = [], registration: Registration = .signIn,
    pushedRequests: FeaturePolicy = .auto
  ) throws -> Configuration {
    try Configuration(
      issuer: issuer, clientID: "client one", redirectURI: redirectURI
    ) {
      $0.postLogoutRedirectURI = postLogoutRedirectURI
      $0.scopes = scopes
      $0.authorizeParameters = parameters
      $0.pushedRequests = pushedRequests
      $0.registration = registration
    }
  }

  static func metadata(
    authorization: String = "https://id.example.com/authorize", announcesIssuer: Bool = false
  ) throws -> ProviderMetadata {
    let configuration = try Configuration(
      issuer: issuer, clientID: "client one", redirectURI: "com.example.app:/cb"
    ) {
      $0.endpoints = Endpoints(
        authorization: authorization, token: "https://id.example.com/token",
        jwks: "https://id.example.com/jwks",
        endSession: "https://id.example.com/logout?ui=plain", announcesIssuerInRedirect: announcesIssuer)
    }
    return try #require(ProviderMetadata(configured: configuration))
  }

  static func moment(_ seconds: Int64 = 0) -> Moment {
    Moment(
      wall: UnixTime(seconds: 1_700_000_000 + seconds),
      instant: Instant(nanoseconds: 0).advanced(bySeconds: 1000 + seconds), bootID: "boot")
  }

  static func transaction(
    state: String, status: TransactionRecord.Status = .pending, redirectURI: String = "com.example.app:/cb",
    issuer: String = Fixture.issuer, seconds: Int64 = 600
  ) -> TransactionRecord {
    TransactionRecord(
      id: TransactionID("id-\(state)"), status: status, issuer: Issuer(issuer), scopes: ["openid"],
      began: moment().wall,
      deadline: Expiry(lifetimeSeconds: seconds, from: moment()),
      flow: .signIn(
        .init(
          CodeRequest(
            redirect: AwaitedRedirect(uri: redirectURI, state: Secret(state)),
            secrets: .init(nonce: Secret("nonce"), codeVerifier: Secret("verifier"))))))
  }

  static func json(_ text: String, status: Int = 200, headers: [HTTPHeader] = []) -> HTTPResponse {
    HTTPResponse(status: status, headers: headers, body: Array(text.utf8))
  }
}

/// The `EnrollError` that `body` throws; nil if it throws no error, or an error of another type.
func refusal<Value>(_ body: () throws -> Value) -> EnrollError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as? EnrollError
  }
}
