// Everything that is stored about one account: one value, sealed and written as a whole, so that it is always
// consistent.

public import EnrollCrypto
public import EnrollJSON

/// The state of one account on this device.
public struct AccountRecord: Equatable, Sendable {
  /// The epoch of the tokens: a number that is increased by every change of the confirmed tokens and by a logout, and
  /// by nothing else. A changed epoch shows a caller that waits for a renewal that the tokens changed, and shows
  /// EnrollKit that a response arrived too late.
  public var tokenEpoch: UInt64 = 0
  /// The epoch when the session's own access token was stored, if a renewal for another audience has increased
  /// ``tokenEpoch`` since then; nil if that epoch is ``tokenEpoch``.
  public var accessEpoch: UInt64?
  /// Tokens that the user confirmed.
  public var confirmed: TokenSet? {
    get { boxedConfirmed?.value }
    set { boxedConfirmed = Boxed.of(newValue) }
  }
  /// Tokens that were received and wait for the user's confirmation (flows.md §7, state G `awaitingConfirmation`).
  public var provisional: TokenSet? {
    get { boxedProvisional?.value }
    set { boxedProvisional = Boxed.of(newValue) }
  }
  /// The profile of the confirmed session's user: verified claims of the id_token, or userinfo.
  public var profile: JSONObject?
  /// The profile that the user is asked to confirm; it belongs to ``provisional``.
  public var provisionalProfile: JSONObject?
  /// The transaction that brought ``provisional``: its id identifies the question to the user.
  public var provisionalTransactionID: TransactionID?
  /// The registration type of the confirmed session: `SOCIAL`, `PASSWORDLESS` or nil.
  public var registrationType: String?
  /// The registration type of ``provisional``, the tokens that wait for confirmation.
  public var provisionalRegistrationType: String?
  /// The transaction of ``provisional`` if these tokens wait for the user to set a PIN (flows.md §9).
  public var pinTransactionID: TransactionID?
  /// The maximum number of transactions of an account. A new transaction replaces the oldest settled transaction or,
  /// if no transaction is settled, the oldest cancelled transaction. A pending transaction is never replaced.
  public static let transactionLimit = 32
  /// Transactions that are pending, or were settled and are kept until their deadline.
  public var transactions: [TransactionRecord] = []
  /// The intent of a renewal; not nil while the outcome of a renewal that was sent, or may have been sent, is unknown
  /// (reliability.md, One renewal, step by step).
  public var renewalIntent: RenewalIntent? {
    get { boxedRenewalIntent?.value }
    set { boxedRenewalIntent = Boxed.of(newValue) }
  }
  /// The last refusal of the current refresh token that did not end the session.
  public var refusal: RenewalRefusal? {
    get { boxedRefusal?.value }
    set { boxedRefusal = Boxed.of(newValue) }
  }
  /// The backoff after the renewals that have failed since the last successful renewal; nil if no renewal failed.
  public var backoff: RenewalBackoff? {
    get { boxedBackoff?.value }
    set { boxedBackoff = Boxed.of(newValue) }
  }
  /// The reason why the provider ended the session, kept for diagnosis (R34); nil if the provider has not ended it.
  public var sessionEnded: String?
  /// The provider's `error_description` for ``sessionEnded``.
  public var sessionEndedDescription: String?
  /// Whether a resource server rejected the session's own access token and no renewal helps. If so, the token is no
  /// longer returned to callers.
  public var isAccessRefused = false
  /// Whether this provider narrowed the session after a request for an audience's token. If so, no token for an
  /// audience is requested again.
  public var narrowsSessions = false
  /// Whether older access tokens stay valid when the provider renews; nil if this is unknown.
  public var keepsAccessTokens: Bool?
  /// Whether the provider refuses the scope `offline_access`. The scope is requested by default. After a refusal it
  /// is left out.
  public var refusesOfflineAccess = false
  /// Whether consent leads to a refresh token at this provider, as observed; nil if it was not observed.
  public var offlineConsent: OfflineConsent?
  /// The difference between the server's clock and the device's date (R25).
  public var serverClock = ServerClock()
  /// The provider's last nonces for DPoP proofs (RFC 9449 §8.2).
  public var nonces = DPoPNonces()
  /// The refresh tokens that were sent last: a response that contains one of them is a replay of an earlier response.
  public var sentRefreshTokens = SentRefreshTokens()
  /// The method with which the provider last accepted the client's secret.
  public var secretMethod: ClientSecretMethod?
  /// Whether the next authorize request has `prompt=login`, so that the user can choose another account
  /// (flows.md §5).
  public var asksForLogin = false
  /// Logouts whose callback is still awaited.
  public var logouts: [PendingLogout] = []

  // The large members, each behind a pointer, because a record is copied whenever it is passed on.
  private var boxedConfirmed: Boxed<TokenSet>?
  private var boxedProvisional: Boxed<TokenSet>?
  private var boxedRenewalIntent: Boxed<RenewalIntent>?
  private var boxedRefusal: Boxed<RenewalRefusal>?
  private var boxedBackoff: Boxed<RenewalBackoff>?

  /// The empty record of an unknown account.
  public init() {}

  /// Updates ``serverClock`` with the clock offset from a response; an offset of nil changes nothing.
  package mutating func learnClockOffset(_ seconds: Int64?) {
    if let seconds { serverClock.hear(offsetSeconds: seconds) }
  }

  /// Whether there are any tokens, confirmed or provisional.
  public var hasTokens: Bool { confirmed != nil || provisional != nil }

  /// Whether the record has only transactions, and no trace of tokens: a user would not call such a record an account.
  package var isAttemptsAlone: Bool {
    var rest = self
    (rest.transactions, rest.tokenEpoch, rest.accessEpoch, rest.serverClock) = ([], 0, nil, ServerClock())
    (rest.narrowsSessions, rest.refusesOfflineAccess, rest.offlineConsent) = (false, false, nil)
    rest.keepsAccessTokens = nil
    (rest.nonces, rest.sentRefreshTokens, rest.secretMethod) = (DPoPNonces(), SentRefreshTokens(), nil)
    return !transactions.isEmpty && rest == AccountRecord()
  }
}

/// A value behind a pointer that copies share. The value is immutable: to change the value, a new box is made.
private final class Boxed<Value: Equatable & Sendable>: Equatable, Sendable {
  let value: Value

  private init(_ value: Value) { self.value = value }

  @inline(never)
  static func of(_ value: Value?) -> Boxed? { value.map { Boxed($0) } }

  @inline(never)
  static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }
}

/// A logout whose callback has not arrived yet (flows.md §5).
public struct PendingLogout: Equatable, Sendable {
  /// The value of `state`, which is sent with the logout URL and expected in its callback; nil for a provider that does
  /// not return a state (``LogoutDialect/cognito``).
  public var state: Secret?
  /// The URI to which the callback is sent.
  public var redirectURI: String
  /// When the logout began, by the device's clock.
  public var began: UnixTime

  public init(state: Secret?, redirectURI: String, began: UnixTime) {
    self.state = state
    self.redirectURI = redirectURI
    self.began = began
  }
}
