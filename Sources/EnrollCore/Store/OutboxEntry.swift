// What a server still has to be told after a logout: the only remnant on the device, for at most 7 days (flows.md §5).

public import EnrollCrypto

/// One revocation that did not reach its server yet.
public struct OutboxEntry: Equatable, Sendable {
  public static let keptSeconds: Int64 = 7 * 24 * 3600

  public var issuer: String
  /// nil when the provider could not be asked for it yet: discovered when the entry is sent.
  public var endpoint: String?
  public var clientID: String
  public var token: Secret
  /// `refresh_token` or `access_token` (RFC 7009 §2.1).
  public var hint: String
  /// For servers that want the access token as bearer when a public client revokes.
  public var bearer: Secret?
  public var queued: UnixTime
  public var attempts: Int

  public init(
    issuer: String, endpoint: String?, clientID: String, token: Secret, hint: String, bearer: Secret? = nil,
    queued: UnixTime, attempts: Int = 0
  ) {
    self.issuer = issuer
    self.endpoint = endpoint
    self.clientID = clientID
    self.token = token
    self.hint = hint
    self.bearer = bearer
    self.queued = queued
    self.attempts = attempts
  }
}
