// A provider with which users sign in. The gateway is its confidential client (RFC 6749 §2.1): it uses the same rules and steps
// as an app, with a client secret that stays on the server.

public import EnrollRules
public import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON

/// A configured provider. All threads share it.
public final class SignInProvider: Sendable {
  /// The name in paths: 1 to 64 letters, digits, `-` or `_`.
  public let name: String
  /// The name that users see: `Google`.
  public let label: String
  let dialect: ProviderDialect
  let engine: Engine
  let share: ProviderShare
  private let makeStore: @Sendable () -> any TokenStore
  private let makeLock: @Sendable () -> any Lock

  /// The time in seconds for which a sign-in proves the user's identity.
  static let proofSeconds: Int64 = 600

  /// - Parameters:
  ///   - dialect: the provider's requirements beyond the specifications.
  ///   - configuration: has the gateway's callback as its redirect URI, and requires no confirmation of the profile.
  ///   - threads: the same object for all providers.
  ///   - makeStore: makes an empty store in memory for one request.
  public init(
    name: String, label: String, configuration: Configuration, dialect: ProviderDialect = ProviderDialect(),
    transport: any Transport, clock: any Clock, random: any RandomSource, threads: ProviderThreads,
    makeStore: @escaping @Sendable () -> any TokenStore,
    makeLock: @escaping @Sendable () -> any Lock
  ) {
    self.name = name
    self.label = label
    self.dialect = dialect
    self.makeStore = makeStore
    self.makeLock = makeLock
    share = ProviderShare(of: threads, makeLock())
    let transport = ClientAuthenticationTransport(
      transport, appleSecrets: dialect.appleSecret.map { AppleSecrets($0, clock: clock, lock: makeLock()) },
      appSecret: dialect.provesAppSecret ? configuration.clientSecret : nil)
    engine = Engine(
      configuration: configuration, account: .default, platform: Platform(), transport: transport,
      userAgent: "EnrollGateway", store: makeStore(), clock: clock, random: random, observer: Silence(),
      clientKey: dialect.readClientKey, exclusion: makeLock)
  }

  /// Checks the configuration and the provider's metadata: begins a sign-in, and drops it.
  /// - Throws: the reason why no sign-in can begin.
  public func check() throws(EnrollError) { _ = try begin(prompt: nil, loginHint: nil) }

  /// Begins a sign-in.
  /// - Parameters:
  ///   - parameters: parameters for this provider only, in addition to the configured parameters.
  ///   - reauthentication: how to make the provider authenticate the user again. The caller compares `auth_time`, because
  ///     the engine's own check would refuse a provider without `auth_time`.
  /// - Returns: the URL for the browser, and the transaction with the state, nonce and verifier.
  /// - Throws: `.network` or a similar error if the provider's metadata cannot be fetched.
  func begin(
    prompt: String?, loginHint: String?, parameters: [(String, String)] = [],
    reauthentication: Attempt.Reauthentication = .notRequested
  ) throws(EnrollError) -> (url: String, TransactionRecord) {
    let store = makeStore()
    let engine = Engine(sharing: engine, store: store, exclusion: makeLock())
    var options = SignInOptions()
    options.prompt = reauthentication == .byPrompt ? "login" : prompt
    options.loginHint = loginHint
    options.parameters = parameters
    if let domain = dialect.hostedDomain { options.parameters.append(("hd", domain)) }
    let begun = try share.taking { () throws(EnrollError) in
      try engine.signIn.begin(options, cancellation: nil)
    }
    guard case .openURL(let url) = begun.action,
      let record = try store.read(engine.account)?.transactions.first
    else { throw EnrollError(.internal, "a sign-in began without an address") }
    let further =
      (dialect.answersByForm ? "&response_mode=form_post" : "")
      + (reauthentication == .notRequested ? "" : "&max_age=\(Self.proofSeconds)")
    return (url + further, record)
  }

  /// Handles the provider's answer: exchanges the code, verifies the id_token, and calls userinfo if necessary (R13-R30).
  /// - Parameter unsignedName: an unsigned name for pages, if the verified claims have no name.
  /// - Returns: the identity; or a refusal, if the provider refused the sign-in or its answer is invalid.
  /// - Throws: if the URL is no answer to the transaction, or if the provider could not be reached, so that the code
  ///   was not sent.
  func handleCallback(
    _ url: String, _ transaction: TransactionRecord, unsignedName: String? = nil
  ) throws(EnrollError) -> Result<ProviderSignIn, SignInRefusal> {
    let store = makeStore()
    try store.update(engine.account) { record in record.transactions = [transaction] }
    let engine = Engine(sharing: engine, store: store, exclusion: makeLock())
    let settled = try share.taking { () throws(EnrollError) in
      try engine.signIn.resume(url, cancellation: nil)
    }
    switch settled.ending {
    case .failed(let error): return .failure(SignInRefusal(error))
    case .succeeded:
      guard let record = try store.read(engine.account), let profile = record.profile else {
        throw EnrollError(.internal, "a sign-in ended without a profile")
      }
      return verifiedSignIn(profile, record.confirmed, unsignedName: unsignedName)
    }
  }

  private func verifiedSignIn(
    _ profile: JSONObject, _ tokens: TokenSet?, unsignedName: String?
  ) -> Result<ProviderSignIn, SignInRefusal> {
    let proven = tokens?.idToken.flatMap { Self.claims(ofProven: $0) } ?? JSONObject()
    if let refusal = domainRefusal(proven) { return .failure(refusal) }
    return identity(in: profile, issuer: tokens?.identity?.issuer).map { identity in
      var identity = identity
      identity.name = identity.name ?? unsignedName
      if let session = proven["sid"]?.string, (1...Self.subjectLimit).contains(session.utf8.count) {
        identity.providerSession = key(ofSubject: session, issuer: tokens?.identity?.issuer)
      }
      return ProviderSignIn(
        identity: identity, authTime: tokens?.identity?.authTime,
        refreshToken: dialect.keepsRefreshToken ? tokens?.refreshToken : nil)
    }
  }

  /// The refusal of a user who is not of the required domain; nil if the user may sign in. Only the id_token proves the
  /// domain: the user can change the domain in the authorization request, which the browser sends. Userinfo does not
  /// count.
  private func domainRefusal(_ proven: JSONObject) -> SignInRefusal? {
    guard let wanted = dialect.hostedDomain else { return nil }
    guard let domain = proven["hd"]?.string, !domain.utf8.isEmpty else {
      return SignInRefusal(.notAllowed, "the id_token has no hd: a private account")
    }
    guard ASCII.equals(wanted, "*") || ASCII.equalsIgnoringCase(wanted, domain) else {
      return SignInRefusal(.notAllowed, "hd of the id_token is another domain than hostedDomain")
    }
    return nil
  }

  /// The claims of an id_token that was verified in the sign-in.
  private static func claims(ofProven token: Secret) -> JSONObject? {
    let parts = token.revealBytes().split(separator: 0x2E, omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
    return (try? JSON.parse(payload))?.object
  }

  private func identity(in claims: JSONObject, issuer: Issuer?) -> Result<Identity, SignInRefusal> {
    guard let subject = claims["sub"]?.string, (1...Self.subjectLimit).contains(subject.utf8.count) else {
      return .failure(
        SignInRefusal(.providerInvalid, "the provider told no sub of 1 to \(Self.subjectLimit) bytes"))
    }
    // A subject is unique only at its issuer (OpenID Connect Core §5.7). With the issuer in the key, two tenants of one
    // template never share accounts. The same is true after the configuration of a provider changes from one issuer to
    // another.
    let key = key(ofSubject: subject, issuer: issuer)
    return .success(
      Identity(
        provider: name, subject: key, email: Self.email(claims["email"]?.string),
        isEmailVerified: Self.isTrue(claims["email_verified"]),
        name: PersonalText.shown(claims["name"]?.string)))
  }

  /// The longest subject in bytes (OpenID Connect Core §2).
  static let subjectLimit = 255

  /// Whether a claim is true. Some providers write the boolean as a string (Apple, Cognito).
  private static func isTrue(_ value: JSON?) -> Bool {
    value?.bool ?? value?.string.map { ASCII.equals($0, "true") } ?? false
  }

  /// The address, if it has at most 254 bytes (RFC 5321 §4.5.3.1), one `@`, and no blanks or control
  /// characters; nil for any other text.
  static func email(_ text: String?) -> String? {
    guard let text, (3...254).contains(text.utf8.count), !text.utf8.contains(0x20), PersonalText.isPlain(text)
    else { return nil }
    let parts = text.utf8.split(separator: 0x40, omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } ? text : nil
  }

  /// Ignores the engine's events: the gateway shows failures itself.
  private final class Silence: EngineObserver {
    func observe(_ notification: EnrollEvent) {}
  }
}
