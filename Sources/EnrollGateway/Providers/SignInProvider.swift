// One provider that people sign in with. The gateway is its confidential client (RFC 6749 §2.1): the same rules and steps as in an app,
// with a secret that no copy of anything has.

public import EnrollCore
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON

/// A provider of the configuration, ready to be asked. Shared by all threads.
public final class SignInProvider: Sendable {
  /// As it is in paths: 1 to 64 letters, digits, `-` or `_`.
  public let name: String
  /// For people: `Google`.
  public let label: String
  let dialect: ProviderDialect
  let engine: Engine
  let share: ProviderShare
  private let makeStore: @Sendable () -> any TokenStore
  private let makeLock: @Sendable () -> any Lock

  /// - Parameters:
  ///   - dialect: what the provider asks for beyond the specifications.
  ///   - configuration: with the gateway's callback as its redirect URI, and without confirmation.
  ///   - threads: the same for all providers.
  ///   - makeStore: an empty store in memory, which one request uses.
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
    let proofs = dialect.credential.map {
      ClientProofs($0, clock: clock, random: random, lock: makeLock())
    }
    let transport = ProvingTransport(
      transport, proofs: proofs, appSecret: dialect.provesAppSecret ? configuration.clientSecret : nil)
    engine = Engine(
      configuration: configuration, account: .default, platform: Platform(), transport: transport,
      userAgent: "EnrollGateway", store: makeStore(), clock: clock, random: random, observer: Silence(),
      exclusion: makeLock)
  }

  /// Asks for the provider's metadata.
  /// - Throws: why it cannot be used.
  public func check() throws(EnrollError) { _ = try begin(prompt: nil, loginHint: nil) }

  /// The scopes of an id_token, or userinfo, decide what comes; the state, nonce and verifier are in the transaction.
  /// - Parameters:
  ///   - parameters: the provider's own, beside those of the configuration.
  ///   - question: how the provider is made to ask the person again. The caller compares `auth_time`: a provider that does not tell it
  ///     would fail the engine's own check.
  /// - Throws: `.network` and its kin when the provider's metadata cannot be fetched.
  func begin(
    prompt: String?, loginHint: String?, parameters: [(String, String)] = [],
    question: Attempt.Question = .usual
  ) throws(EnrollError) -> (url: String, TransactionRecord) {
    let store = makeStore()
    let engine = Engine(sharing: engine, store: store, exclusion: makeLock())
    var options = SignInOptions()
    options.prompt = question == .byPrompt ? "login" : prompt
    options.loginHint = loginHint
    options.parameters = parameters
    if let domain = dialect.hostedDomain { options.parameters.append(("hd", domain)) }
    let begun = try share.taking { () throws(EnrollError) in try engine.begin(options, cancellation: nil) }
    guard case .openURL(let url) = begun.action,
      let record = try store.read(engine.account)?.transactions.first
    else { throw EnrollError(.internal, "a sign-in began without an address") }
    let further =
      (dialect.answersByForm ? "&response_mode=form_post" : "")
      + (question == .usual ? "" : "&max_age=\(Gateway.proofSeconds)")
    return (url + further, record)
  }

  /// Takes the browser's return: exchanges the code, proves the id_token, asks userinfo where that is needed (R13-R30).
  /// - Parameter toldName: for pages, where the provider's proof has no name.
  /// - Returns: the identity, or why there is none: the provider said no, or its answer was refused.
  /// - Throws: when the URL is no answer to the transaction, or the provider was not reached before the code was sent.
  func finish(
    _ url: String, _ transaction: TransactionRecord, toldName: String? = nil
  ) throws(EnrollError) -> Result<Arrival, SignInRefusal> {
    let store = makeStore()
    try store.update(engine.account) { record in record.transactions = [transaction] }
    let engine = Engine(sharing: engine, store: store, exclusion: makeLock())
    let settled = try share.taking { () throws(EnrollError) in try engine.resume(url, cancellation: nil) }
    switch settled.ending {
    case .failed(let error): return .failure(SignInRefusal(error))
    case .succeeded:
      guard let record = try store.read(engine.account), let profile = record.profile else {
        throw EnrollError(.internal, "a sign-in ended without a profile")
      }
      return arrival(profile, record.confirmed, toldName: toldName)
    }
  }

  private func arrival(
    _ profile: JSONObject, _ tokens: TokenSet?, toldName: String?
  ) -> Result<Arrival, SignInRefusal> {
    let proven = tokens?.idToken.flatMap { Self.claims(ofProven: $0) } ?? JSONObject()
    if let refusal = domainRefusal(proven) { return .failure(refusal) }
    return identity(in: profile, issuer: tokens?.identity?.issuer).map { identity in
      var identity = identity
      identity.name = identity.name ?? toldName
      if let session = proven["sid"]?.string, (1...Self.subjectLimit).contains(session.utf8.count) {
        identity.providerSession = key(ofSubject: session, issuer: tokens?.identity?.issuer)
      }
      return Arrival(
        identity: identity, authTime: tokens?.identity?.authTime,
        refreshToken: dialect.keepsRefreshToken ? tokens?.refreshToken : nil)
    }
  }

  /// The domain is asked for in the browser, where everybody can change the request: only the id_token proves it. Userinfo does
  /// not count.
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

  /// The claims of an id_token that a sign-in proved.
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
    // A subject is unique at its issuer alone (OpenID Connect Core §5.7): neither tenants of one template nor a provider whose
    // configuration names another issuer one day share accounts.
    let key = key(ofSubject: subject, issuer: issuer)
    return .success(
      Identity(
        provider: name, subject: key, email: Self.email(claims["email"]?.string),
        isEmailVerified: Self.isTrue(claims["email_verified"]),
        name: PersonalText.shown(claims["name"]?.string)))
  }

  /// OpenID Connect Core §2.
  static let subjectLimit = 255

  /// Some providers write it as a text (Apple, Cognito).
  private static func isTrue(_ value: JSON?) -> Bool {
    value?.bool ?? value?.string.map { ASCII.equals($0, "true") } ?? false
  }

  /// RFC 5321 §4.5.3.1: at most 254 bytes, one `@`, no blanks or controls; nil for what is no address.
  static func email(_ text: String?) -> String? {
    guard let text, (3...254).contains(text.utf8.count), !text.utf8.contains(0x20), PersonalText.isPlain(text)
    else { return nil }
    let parts = text.utf8.split(separator: 0x40, omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } ? text : nil
  }

  /// The gateway tells people itself what went wrong.
  private final class Silence: EngineObserver {
    func observe(_ notification: EnrollEvent) {}
  }
}
