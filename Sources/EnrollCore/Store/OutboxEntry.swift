// Messages that servers have not received yet: all that a logout leaves on the device, for at most 7 days (flows.md
// §5, §7).

public import EnrollCrypto

/// One message that did not reach its server yet.
public struct OutboxEntry: Equatable, Sendable {
  /// Seconds after which an entry is given up: 7 days.
  public static let keptSeconds: Int64 = 7 * 24 * 3600

  /// A message to a server.
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
    public var clientID: ClientID
    /// The token itself.
    public var token: Secret
    /// `refresh_token` or `access_token` (RFC 7009 §2.1).
    public var hint: String
    /// `sub` of the user to whom it was given; nil where it is not known. It is not sent.
    public var user: String?
    /// For servers that want the access token as bearer when a public client revokes.
    public var bearer: Secret?
    /// What ``bearer`` is bound to; nil for a Bearer token.
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

  /// The client that queued an entry. Only that client may send it: another one could show it to another server.
  public struct Sender: Equatable, Sendable {
    /// The client id of its configuration.
    public var clientID: ClientID
    /// By which it knows the server.
    public var trust: TrustSettings

    public init(clientID: ClientID, trust: TrustSettings) {
      self.clientID = clientID
      self.trust = trust
    }
  }

  /// The provider of the account that it is about.
  public var issuer: Issuer
  /// nil in what an earlier version queued, which did not say.
  public var sender: Sender?
  /// nil when the provider could not be asked for it yet: discovered when the entry is sent.
  public var endpoint: String?
  /// The message to send.
  public var message: Message
  /// When it was queued, by the device's clock.
  public var queued: UnixTime
  /// How often it was sent in vain.
  public var attempts: Int
  /// Before its end it is not sent again; nil when nobody answered the last time.
  public var pause: Expiry?
  /// The server asked for ``pause``: then nothing else is sent to its endpoint, either.
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
  /// Whether a client of that issuer and with those settings may send the entry, or take it away.
  func belongs(toIssuer issuer: Issuer, _ client: Sender) -> Bool {
    guard self.issuer == issuer else { return false }
    if let sender { return sender == client }
    // An entry without a sender is sent by a client with the standard trust settings only.
    return client.trust == .standard && message.clientID == client.clientID
  }
}

extension OutboxEntry.Message {
  /// The client that it is about; nil where it does not say.
  fileprivate var clientID: ClientID? {
    switch self {
    case .revocation(let revocation): revocation.clientID
    // ``AccountName/qualifiedName`` ends with it, after a space.
    case .profile(let account):
      account.utf8.lastIndex(of: 0x20).map {
        ClientID(String(decoding: account.utf8[account.utf8.index(after: $0)...], as: UTF8.self))
      }
    case .errorReport(let text): ErrorReport.clientID(in: text)
    }
  }
}
