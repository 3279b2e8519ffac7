// The additional access tokens of a session: one for each audience that a caller requested. These tokens belong to the
// session: they are obtained with its refresh token, stored in its record, and deleted together with the session.

public import EnrollCrypto

/// An access token for one audience.
public struct AudienceToken: Equatable, Sendable {
  /// The access token for requests to the audience.
  public var accessToken: Secret
  /// The token's type as the server spelt it.
  public var tokenType: String
  /// The granted scopes, or the requested scopes if the server does not say.
  public var scopes: [String]
  /// When the token expires.
  public var expiry: Expiry
  /// The record's epoch when the token was stored.
  public var epoch: UInt64
  /// Whether a renewal for another audience, or for the session's own token, may have ended this token. Then
  /// the token is not returned to callers.
  public var isSuperseded = false
  /// How the token differs from the request, as text; nil if no difference is known.
  public var deviation: String?

  public init(accessToken: Secret, tokenType: String, scopes: [String], expiry: Expiry, epoch: UInt64) {
    self.accessToken = accessToken
    self.tokenType = tokenType
    self.scopes = scopes
    self.expiry = expiry
    self.epoch = epoch
  }
}

/// The token of one audience, or the reason why there is no token.
public struct AudienceEntry: Equatable, Sendable {
  /// The audience of the token.
  public let audience: TokenAudience
  /// The token; nil if the provider has not issued one yet.
  public var token: AudienceToken?
  /// The provider's last refusal of this audience.
  public var refusal: RenewalRefusal?
  /// The backoff after consecutive failures in which the server responded, but did not refuse; nil if there is no such
  /// failure. A failure without a response delays all renewals of the account, so it is counted in the account's
  /// record, not here.
  public var backoff: RenewalBackoff?

  public init(
    _ audience: TokenAudience, token: AudienceToken? = nil, refusal: RenewalRefusal? = nil,
    backoff: RenewalBackoff? = nil
  ) {
    self.audience = audience
    self.token = token
    self.refusal = refusal
    self.backoff = backoff
  }
}

/// The audiences of one session.
public struct AudienceTokens: Equatable, Sendable {
  /// The maximum number of tokens. If there are more, the token that expires first is removed.
  public static let limit = 16
  /// The maximum number of entries that have no token, but only a refusal or a backoff. If there are more, the oldest
  /// of these entries is removed.
  static let pauseLimit = 64
  /// The largest size of all entries together: the account's record must stay below the limit of a sealed file.
  public static let maximumBytes = 256 << 10

  /// The entries, in the order in which they were added.
  public private(set) var entries: [AudienceEntry] = []

  public init() {}

  /// Whether there is no entry for any audience.
  public var isEmpty: Bool { entries.isEmpty }

  /// The entry of an audience; nil if it has no entry.
  public subscript(audience: TokenAudience) -> AudienceEntry? {
    entries.first { $0.audience == audience }
  }

  /// Adds an entry, which replaces the audience's earlier entry.
  package mutating func put(_ entry: AudienceEntry) {
    entries.removeAll { $0.audience == entry.audience }
    while let index = givingWay(to: entry) { entries.remove(at: index) }
    entries.append(entry)
  }

  /// Edits every entry in place.
  mutating func changeTokens(_ edit: (inout AudienceEntry) -> Void) {
    for index in entries.indices { edit(&entries[index]) }
  }

  /// Removes the entries whose token has expired, if their pauses after a refusal and after a failure have also ended.
  mutating func dropEnded(at moment: Moment) {
    entries.removeAll { entry in
      (entry.token?.expiry.isOver(at: moment) ?? true) && entry.refusal?.pause.band(at: moment) != .fresh
        && entry.backoff?.pause.isPending(at: moment) != true
    }
  }

  private var byteCount: Int { entries.reduce(0) { $0 + $1.byteCount } }

  /// The index of the entry that has to be removed for a new entry; nil if there is room for both. If the limit of a
  /// kind is reached, a new entry with a token replaces an entry with a token, and a new entry without a token replaces
  /// an entry without a token. If all entries together would be too large, the new entry replaces the least useful
  /// entry of either kind.
  private func givingWay(to entry: AudienceEntry) -> Int? {
    if byteCount + entry.byteCount > Self.maximumBytes { return entries.indices.min(by: isLessUseful) }
    let alike = entries.indices.filter { (entries[$0].token == nil) == (entry.token == nil) }
    let limit = entry.token == nil ? Self.pauseLimit : Self.limit
    return alike.count < limit ? nil : alike.min(by: isLessUseful)
  }

  /// An entry without a token is less useful than an entry with a token. Of two entries with tokens, the one
  /// that expires sooner is less useful.
  private func isLessUseful(_ left: Int, than right: Int) -> Bool {
    guard let left = entries[left].token else { return entries[right].token != nil }
    guard let right = entries[right].token else { return false }
    return left.expiry.expiresAt < right.expiry.expiresAt
  }
}

extension AudienceEntry {
  fileprivate var byteCount: Int {
    (token?.accessToken.count ?? 0) + (audience.resource?.utf8.count ?? 0)
      + audience.scopes.reduce(0) { $0 + $1.utf8.count + 1 }
  }
}

extension TokenSet {
  /// The access token for an audience, or the session's own; nil if there is no such token.
  package func access(for audience: TokenAudience?) -> AccessGrant? {
    guard let audience else {
      return AccessGrant(AccessToken(self), expiry)
    }
    return audiences[audience]?.token.map { AccessGrant(AccessToken($0), $0.expiry) }
  }
}

/// An access token and its expiry.
package struct AccessGrant {
  /// The access token without the date for callers, which depends on the device's clock.
  private let stored: AccessToken
  package let expiry: Expiry

  init(_ stored: AccessToken, _ expiry: Expiry) {
    self.stored = stored
    self.expiry = expiry
  }

  package var value: Secret { stored.value }

  /// The token for a caller at `moment`.
  package func token(at moment: Moment) -> AccessToken {
    var token = stored
    token.expiresAt = expiry.date(at: moment)
    return token
  }
}

extension AccessToken {
  init(_ tokens: TokenSet) {
    self.init(
      value: tokens.accessToken, tokenType: tokens.tokenType, expiresAt: tokens.expiry.expiresAt,
      scopes: tokens.scopes)
  }

  init(_ token: AudienceToken) {
    self.init(
      value: token.accessToken, tokenType: token.tokenType, expiresAt: token.expiry.expiresAt,
      scopes: token.scopes)
    deviation = token.deviation
  }
}
