// Everything that is kept about one account: one value, sealed and written whole, so that it is never half true.

public import EnrollCrypto
public import EnrollJSON

/// The state of one account on this device.
public struct AccountRecord: Equatable, Sendable {
  /// Bumped by every change of the confirmed tokens and by logout, and by nothing else: what a waiter for a renewal goes
  /// by, and what tells a late answer that it is too late.
  public var tokenEpoch: UInt64 = 0
  /// The epoch since which the session's own access token stands, where renewals for other audiences moved ``tokenEpoch`` on;
  /// nil while both are the same.
  public var accessEpoch: UInt64?
  /// Tokens that the user confirmed.
  public var confirmed: TokenSet? {
    get { boxedConfirmed?.value }
    set { boxedConfirmed = Boxed.of(newValue) }
  }
  /// Tokens that arrived and wait for the user's word (flows.md §7, G).
  public var provisional: TokenSet? {
    get { boxedProvisional?.value }
    set { boxedProvisional = Boxed.of(newValue) }
  }
  /// The profile of the confirmed session's user: proven claims of the id_token, or userinfo.
  public var profile: JSONObject?
  /// The profile that is shown for confirmation, beside ``provisional``.
  public var provisionalProfile: JSONObject?
  /// The transaction that brought ``provisional``: it names the question that the user is asked.
  public var provisionalTransactionID: TransactionID?
  /// `SOCIAL`, `PASSWORDLESS` or nothing.
  public var registrationType: String?
  /// The same of the tokens that wait for confirmation, beside ``provisional``.
  public var provisionalRegistrationType: String?
  /// The transaction whose tokens wait for the user to set a PIN, beside ``provisional`` (flows.md §9).
  public var pinTransactionID: TransactionID?
  /// Attempts that are pending, or were settled and are remembered until their deadline.
  public var transactions: [TransactionRecord] = []
  /// A renewal was sent, or was about to be, and its outcome is not known (reliability.md, One renewal, step by step).
  public var renewalIntent: RenewalIntent? {
    get { boxedRenewalIntent?.value }
    set { boxedRenewalIntent = Boxed.of(newValue) }
  }
  /// The last refusal of the present refresh token that does not end the session by itself.
  public var refusal: RenewalRefusal? {
    get { boxedRefusal?.value }
    set { boxedRefusal = Boxed.of(newValue) }
  }
  /// Failures of renewal since the last success; nil while there is none.
  public var backoff: RenewalBackoff? {
    get { boxedBackoff?.value }
    set { boxedBackoff = Boxed.of(newValue) }
  }
  /// Set when the provider ended the session: the reason, kept for diagnosis (R34).
  public var sessionEnded: String?
  /// Resource servers refuse the session's own access token, and no renewal helps: it is not handed out any more.
  public var isAccessRefused = false
  /// The provider narrowed a session when it was asked for a token for an audience: it is not asked again.
  public var narrowsSessions = false
  /// The provider refuses the scope `offline_access` that is asked for by default: it is left out.
  public var refusesOfflineAccess = false
  /// The server's clock beside the device's date (R25).
  public var serverClock = ServerClock()
  /// The provider's last nonces for proofs (RFC 9449 §8.2).
  public var nonces = DPoPNonces()
  /// The refresh tokens that were sent last: an answer that brings one of them is an earlier one.
  public var sentRefreshTokens = SentRefreshTokens()
  /// The next authorize request carries `prompt=login`, so that another account can be chosen (flows.md §5).
  public var asksForLogin = false
  /// Logouts whose callback is still awaited.
  public var logouts: [PendingLogout] = []

  // The large members, one pointer each: a record is copied as it is handed on.
  private var boxedConfirmed: Boxed<TokenSet>?
  private var boxedProvisional: Boxed<TokenSet>?
  private var boxedRenewalIntent: Boxed<RenewalIntent>?
  private var boxedRefusal: Boxed<RenewalRefusal>?
  private var boxedBackoff: Boxed<RenewalBackoff>?

  /// An account of which nothing is known.
  public init() {}

  /// Takes note of what an answer told; nil changes nothing.
  mutating func learnClockOffset(_ seconds: Int64?) {
    if let seconds { serverClock.hear(offsetSeconds: seconds) }
  }

  /// Whether anybody's tokens are kept: provisional ones are shown for confirmation, confirmed ones are used.
  public var hasTokens: Bool { confirmed != nil || provisional != nil }

  /// Nothing but attempts that brought no tokens, now or ever: no account that a person would call one.
  package var isAttemptsAlone: Bool {
    var rest = self
    (rest.transactions, rest.tokenEpoch, rest.accessEpoch, rest.serverClock) = ([], 0, nil, ServerClock())
    (rest.narrowsSessions, rest.refusesOfflineAccess) = (false, false)
    (rest.nonces, rest.sentRefreshTokens) = (DPoPNonces(), SentRefreshTokens())
    return !transactions.isEmpty && rest == AccountRecord()
  }
}

/// A value behind a pointer that copies share. It never changes: a new value is a new box.
private final class Boxed<Value: Equatable & Sendable>: Equatable, Sendable {
  let value: Value

  private init(_ value: Value) { self.value = value }

  @inline(never)
  static func of(_ value: Value?) -> Boxed? { value.map { Boxed($0) } }

  @inline(never)
  static func == (left: Boxed, right: Boxed) -> Bool { left === right || left.value == right.value }
}

/// Written before a refresh token is sent (reliability.md, One renewal, step by step).
public struct RenewalIntent: Equatable, Sendable {
  /// 128 random bits, base64url.
  public var attempt: String
  /// The record's epoch when it began.
  public var tokenEpoch: UInt64
  /// SHA-256 of the refresh token that is being spent, base64url.
  public var refreshTokenHash: String
  /// The boot in which it began.
  public var bootID: String
  /// When it began, by the device's clock.
  public var began: UnixTime

  public init(attempt: String, tokenEpoch: UInt64, refreshTokenHash: String, bootID: String, began: UnixTime)
  {
    self.attempt = attempt
    self.tokenEpoch = tokenEpoch
    self.refreshTokenHash = refreshTokenHash
    self.bootID = bootID
    self.began = began
  }
}

/// A 4xx to a refresh that does not say `invalid_grant` (reliability.md, What the answer to a refresh token means).
public struct RenewalRefusal: Equatable, Sendable {
  /// While it is fresh nobody asks again; the same refusal once it is over ends the session.
  public var pause: Expiry
  /// 400 to 499.
  public var httpStatus: Int
  /// The server's own error code; nil where it gave none.
  public var oauthError: String?
  /// The server refused in the same way before, 60 s or more earlier.
  public var isRepeated: Bool
  /// When it began to refuse so, by the device's clock; nil where an earlier version wrote the record.
  public var began: UnixTime?

  public init(
    pause: Expiry, httpStatus: Int, oauthError: String?, isRepeated: Bool = false, began: UnixTime? = nil
  ) {
    self.pause = pause
    self.httpStatus = httpStatus
    self.oauthError = oauthError
    self.isRepeated = isRepeated
    self.began = began
  }
}

/// A logout whose callback has not come back yet (flows.md §5).
public struct PendingLogout: Equatable, Sendable {
  /// Sent with the logout URL, and expected in its callback; nil at a provider that sends nothing back
  /// (``LogoutDialect/cognito``).
  public var state: Secret?
  /// Where the callback comes to.
  public var redirectURI: String
  /// When it began, by the device's clock.
  public var began: UnixTime

  public init(state: Secret?, redirectURI: String, began: UnixTime) {
    self.state = state
    self.redirectURI = redirectURI
    self.began = began
  }
}
