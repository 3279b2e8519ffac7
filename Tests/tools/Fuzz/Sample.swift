// Fixed values for the targets: a configuration, pending transactions, keys and a file of a store. They have
// no random bytes, so that an input has the same result each time.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollCrypto
import EnrollJSON

@testable import EnrollRules
@testable import EnrollSteps
@testable import EnrollHost

enum Sample {
  static let issuer: Issuer = "https://id.example.com"
  static let moment = Moment(
    wall: UnixTime(seconds: 1_700_000_000), instant: Instant(nanoseconds: 1_000_000_000), bootID: "boot")

  static let configuration: Configuration = made {
    try Configuration(
      json: JSON.parse(
        Array(
          """
          {"issuer": "https://id.example.com", "clientId": "app", "redirectUri": "com.example.app:/cb",
           "postLogoutRedirectUri": "com.example.app:/out", "fallbackUri": "com.example.app://identity/fallback",
           "appLinks": ["https://app.example/welcome/{activationToken}", "https://app.example/w?token={activationToken}"],
           "app2app": {"initUri": "https://id.example.com/init", "completeUri": "https://id.example.com/complete",
            "allowedLinks": ["https://other.example/"]}}
          """.utf8)))
  }

  /// The transactions are made again for each use. A constant would live until the program ends, and the leak checker
  /// would report it, because it cannot follow the tagged pointer of an indirect enum.
  static var transactions: [TransactionRecord] {
    [
      transaction(
        "signIn",
        .signIn(
          .init(
            CodeRequest(
              redirect: redirect("signIn"),
              secrets: .init(nonce: Secret("nonce"), codeVerifier: Secret("verifier")))))),
      transaction(
        "bff",
        .bff(
          .init(
            redirect: redirect("bff"),
            exchange: .init(provider: "google", codeVerifier: Secret("verifier"))))),
      transaction(
        "other", .app2app(.init(redirectURI: "com.example.app:/cb", session: .init(Secret("session"))))),
    ]
  }

  private static func redirect(_ name: String) -> AwaitedRedirect {
    AwaitedRedirect(uri: "com.example.app:/cb", state: Secret("state-\(name)"))
  }

  private static func transaction(_ name: String, _ flow: TransactionRecord.Flow) -> TransactionRecord {
    TransactionRecord(
      id: TransactionID(name), issuer: issuer, scopes: ["openid"], began: moment.wall,
      deadline: Expiry(lifetimeSeconds: 600, from: moment), flow: flow)
  }

  static let logouts = [
    PendingLogout(state: Secret("state-out"), redirectURI: "com.example.app:/out", began: moment.wall)
  ]

  /// The keys of RFC 7517 appendix A.1 and RFC 8037 appendix A.2.
  static let keys: JWKSet = made {
    try JWKSet.parse(
      Array(
        """
        {"keys": [{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
         "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "kid": "ec"},
         {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "kid": "ed"}]}
        """.utf8))
  }

  static let expectations = IDTokenExpectations(
    issuer: issuer, clientID: "app", nonce: Secret("nonce"), maxAgeSeconds: 600, acrValues: ["gold"],
    accessToken: Secret("access"), now: moment.wall)

  static let key = Secret([UInt8](repeating: 5, count: 32))
  static let tag = [UInt8](repeating: 7, count: 16)
  static let storeKeys = StoreKeys(
    storeID: [UInt8](repeating: 1, count: 16), nameKey: Secret([UInt8](repeating: 2, count: 32)),
    active: StoreKeys.DataKey(id: [UInt8](repeating: 3, count: 16), key: key))
  static let sealedFile: [UInt8] = made {
    try SealedFormat.seal(Secret("{}"), tag: tag, generation: 5, keys: storeKeys, random: NoRandom())
  }

  private final class NoRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 9, count: count) }
  }

  private static func made<Value>(_ make: () throws -> Value) -> Value {
    do { return try make() } catch { fatalError("a sample is not acceptable: \(error)") }
  }
}
