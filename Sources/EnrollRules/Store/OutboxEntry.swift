// Messages that servers have not received yet. After a logout these messages are the only data on the device.
// They are kept for at most 7 days (flows.md §5, §7).

public import EnrollCrypto

/// A message that has not reached its server yet.
public struct OutboxEntry: Equatable, Sendable {
  /// Seconds after which an entry is discarded: 7 days.
  public static let keptSeconds: Int64 = 7 * 24 * 3600

  /// A message to a server.
  public enum Message: Equatable, Sendable {
    /// A token to revoke (RFC 7009 §2.1).
    case revocation(Revocation)
    /// The confirmed profile of an account, which is read from the store when the message is sent. The account's
    /// qualified name includes its issuer and client.
    case profile(account: String)
    /// A report of a failure: the JSON text to post, without secrets.
    case errorReport(String)
  }

  /// A token to revoke, and the parameters of the request (RFC 7009 §2.1).
  public struct Revocation: Equatable, Sendable {
    /// The client to which the token was issued.
    public var clientID: ClientID
    /// The token itself.
    public var token: Secret
    /// `refresh_token` or `access_token` (RFC 7009 §2.1).
    public var hint: String
    /// The `sub` of the token's user, which is not sent; nil if it is unknown.
    public var user: String?
    /// The access token to send as bearer, for servers that require such a token when a public client revokes.
    public var bearer: Secret?
    /// The key to which ``bearer`` is bound; nil for a Bearer token.
    public var dpopKey: DPoPKey?

    public init(
      clientID: ClientID, token: Secret, hint: String, user: String? = nil, bearer: Secret? = nil,
      dpopKey: DPoPKey? = nil
    ) {
      self.clientID = clientID
      self.token = token
      self.hint = hint
      self.user = user
      self.bearer = bearer
      self.dpopKey = dpopKey
    }
  }

  /// The client that queued an entry. Only that client may send the entry: another client might send the entry to
  /// another server.
  public struct Sender: Equatable, Sendable {
    /// The client id in the client's configuration.
    public var clientID: ClientID
    /// How the client verifies servers.
    public var trust: TrustSettings

    public init(clientID: ClientID, trust: TrustSettings) {
      self.clientID = clientID
      self.trust = trust
    }
  }

  /// The provider of the account that the message concerns.
  public var issuer: Issuer
  /// The client that queued the entry; nil in an entry of an earlier version, which did not store the client.
  public var sender: Sender?
  /// The URL to which the message is sent; nil if the provider's metadata was not available. In that case the endpoint
  /// is discovered when the entry is sent.
  public var endpoint: String?
  /// The message to send.
  public var message: Message
  /// When the message was queued, by the device's clock.
  public var queued: UnixTime
  /// The number of failed attempts to send the message.
  public var attempts: Int
  /// The entry is not sent again before this pause ends; nil if the server did not respond to the last attempt.
  public var pause: Expiry?
  /// The account whose browser is at the provider's logout page, as `AccountName.qualifiedName`: ``pause`` ends when the
  /// browser comes back. nil if the entry waits for no browser (flows.md §5).
  public var awaitedLogout: String?
  /// Whether the server asked for ``pause``. If so, until the pause ends, no entry at all is sent to the same endpoint.
  public var isPauseAsked = false

  public init(
    issuer: Issuer, sender: Sender? = nil, endpoint: String?, message: Message, queued: UnixTime,
    attempts: Int = 0
  ) {
    self.issuer = issuer
    self.sender = sender
    self.endpoint = endpoint
    self.message = message
    self.queued = queued
    self.attempts = attempts
  }
}

extension OutboxEntry {
  /// Whether a client of this issuer and with these settings may send or remove the entry.
  package func belongs(toIssuer issuer: Issuer, _ client: Sender) -> Bool {
    guard self.issuer == issuer else { return false }
    if let sender { return sender == client }
    // Only a client with the standard trust settings sends an entry without a sender.
    return client.trust == .standard && message.clientID == client.clientID
  }
}

extension OutboxEntry.Message {
  /// The client that the message concerns; nil if the message does not say.
  fileprivate var clientID: ClientID? {
    switch self {
    case .revocation(let revocation): revocation.clientID
    // ``AccountName/qualifiedName`` ends with the client id, after a space.
    case .profile(let account):
      account.utf8.lastIndex(of: 0x20).map {
        ClientID(String(decoding: account.utf8[account.utf8.index(after: $0)...], as: UTF8.self))
      }
    case .errorReport(let text): ErrorReport.clientID(in: text)
    }
  }
}
