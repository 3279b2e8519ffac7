// What servers still have to be told: the only remnant on the device after a logout, for at most 7 days (flows.md §5,
// §7).

public import EnrollCrypto

/// One message that did not reach its server yet.
public struct OutboxEntry: Equatable, Sendable {
  /// Seconds after which an entry is given up: 7 days.
  public static let keptSeconds: Int64 = 7 * 24 * 3600

  /// What the server is to be told.
  public enum Message: Equatable, Sendable {
    /// A token to be forgotten (RFC 7009 §2.1).
    case revocation(Revocation)
    /// The confirmed profile of an account, as the store has it when it is sent. The name says its issuer and client, too.
    case profile(account: String)
    /// A failure, as the JSON text that is posted; holds no secret.
    case errorReport(String)
  }

  /// A token to be forgotten, and what the server wants to know with it (RFC 7009 §2.1).
  public struct Revocation: Equatable, Sendable {
    /// The client to which the token was given.
    public var clientID: String
    /// The token itself.
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

  /// The provider of the account that it is about.
  public var issuer: String
  /// nil when the provider could not be asked for it yet: discovered when the entry is sent.
  public var endpoint: String?
  /// What is to be told.
  public var message: Message
  /// When it was queued, by the device's clock.
  public var queued: UnixTime
  /// How often it was sent in vain.
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
