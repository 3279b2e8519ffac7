// What servers still have to be told: the only remnant on the device after a logout, for at most 7 days (flows.md §5,
// §7).

public import EnrollCrypto

/// One message that did not reach its server yet.
public struct OutboxEntry: Equatable, Sendable {
  public static let keptSeconds: Int64 = 7 * 24 * 3600

  public enum Message: Equatable, Sendable {
    /// A token to be forgotten (RFC 7009 §2.1).
    case revocation(Revocation)
    /// The confirmed profile of an account, as the store has it when it is sent.
    case profile(account: String)
    /// A failure, as the JSON text that is posted; holds no secret.
    case errorReport(String)
  }

  public struct Revocation: Equatable, Sendable {
    public var clientID: String
    public var token: Secret
    /// `refresh_token` or `access_token` (RFC 7009 §2.1).
    public var hint: String
    /// For servers that want the access token as bearer when a public client revokes.
    public var bearer: Secret?
    /// What ``bearer`` is bound to; nil for a Bearer token.
    public var dpopKey: DPoPKey?

    public init(
      clientID: String, token: Secret, hint: String, bearer: Secret? = nil, dpopKey: DPoPKey? = nil
    ) {
      self.clientID = clientID
      self.token = token
      self.hint = hint
      self.bearer = bearer
      self.dpopKey = dpopKey
    }
  }

  public var issuer: String
  /// nil when the provider could not be asked for it yet: discovered when the entry is sent.
  public var endpoint: String?
  public var message: Message
  public var queued: UnixTime
  public var attempts: Int

  public init(
    issuer: String, endpoint: String?, message: Message, queued: UnixTime, attempts: Int = 0
  ) {
    self.issuer = issuer
    self.endpoint = endpoint
    self.message = message
    self.queued = queued
    self.attempts = attempts
  }
}
