// What a session has beside its own access token: one access token for each audience that somebody asked for. They belong to
// the session: they come with its refresh token, stand in its record, and go with it.

public import EnrollCrypto

/// An access token for one audience.
public struct AudienceToken: Equatable, Sendable {
  /// The token that requests to the audience carry.
  public var accessToken: Secret
  /// As the server spelt it.
  public var tokenType: String
  /// The granted scopes; those that were asked for where the server does not say.
  public var scopes: [String]
  /// When it ends.
  public var expiry: Expiry
  /// The record's epoch since which it stands there.
  public var epoch: UInt64

  public init(accessToken: Secret, tokenType: String, scopes: [String], expiry: Expiry, epoch: UInt64) {
    self.accessToken = accessToken
    self.tokenType = tokenType
    self.scopes = scopes
    self.expiry = expiry
    self.epoch = epoch
  }
}

/// What is kept for one audience.
public struct AudienceEntry: Equatable, Sendable {
  /// For whom the token is.
  public let audience: TokenAudience
  /// nil while the provider gave none.
  public var token: AudienceToken?
  /// The provider's last refusal of this audience.
  public var refusal: RenewalRefusal?
  /// Failures in a row to which the provider answered otherwise than by refusing; nil while there is none. One that it did
  /// not answer at all delays the account's other renewals as well, and stands in its record.
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
  /// So many tokens are kept; of more, the one that ends first gives way.
  public static let limit = 16
  /// So many audiences that have no token are known to wait; of more, the one that failed first gives way.
  static let pauseLimit = 64
  /// All of it together: the account's record has to stay below the limit of a sealed file.
  public static let maximumBytes = 256 << 10

  /// In the order in which they came.
  public private(set) var entries: [AudienceEntry] = []

  public init() {}

  /// Whether nothing is kept.
  public var isEmpty: Bool { entries.isEmpty }

  /// The entry of an audience; nil if there is none.
  public subscript(audience: TokenAudience) -> AudienceEntry? {
    entries.first { $0.audience == audience }
  }

  /// Takes an entry in the place of the audience's earlier one.
  mutating func put(_ entry: AudienceEntry) {
    entries.removeAll { $0.audience == entry.audience }
    while let index = givingWay(to: entry) { entries.remove(at: index) }
    entries.append(entry)
  }

  /// Forgets what serves nobody any more: tokens that ended, refusals that are over.
  mutating func dropEnded(at moment: Moment) {
    entries.removeAll { entry in
      (entry.token?.expiry.isOver(at: moment) ?? true) && entry.refusal?.pause.band(at: moment) != .fresh
        && entry.backoff?.pause.isPending(at: moment) != true
    }
  }

  private var byteCount: Int { entries.reduce(0) { $0 + $1.byteCount } }

  /// A pause takes no token's place, nor a token a pause's, unless the record would be too long.
  private func givingWay(to entry: AudienceEntry) -> Int? {
    if byteCount + entry.byteCount > Self.maximumBytes { return entries.indices.min(by: isLessUseful) }
    let alike = entries.indices.filter { (entries[$0].token == nil) == (entry.token == nil) }
    let limit = entry.token == nil ? Self.pauseLimit : Self.limit
    return alike.count < limit ? nil : alike.min(by: isLessUseful)
  }

  /// Without a token, else with one that ends sooner.
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
  /// The access token for an audience, or the session's own; nil if there is none.
  func access(for audience: TokenAudience?) -> AccessGrant? {
    guard let audience else {
      return AccessGrant(AccessToken(self), expiry)
    }
    return audiences[audience]?.token.map { AccessGrant(AccessToken($0), $0.expiry) }
  }
}

/// An access token with its end by two clocks.
struct AccessGrant {
  let token: AccessToken
  let expiry: Expiry

  init(_ token: AccessToken, _ expiry: Expiry) {
    self.token = token
    self.expiry = expiry
  }
}

extension AccessToken {
  init(_ tokens: TokenSet) {
    self.init(value: tokens.accessToken, tokenType: tokens.tokenType, expiresAt: tokens.expiry.expiresAt)
  }

  init(_ token: AudienceToken) {
    self.init(
      value: token.accessToken, tokenType: token.tokenType, expiresAt: token.expiry.expiresAt,
      scopes: token.scopes)
  }
}

extension AccountRecord {
  /// The epoch since which an access token stands here: the session's own, or an audience's; nil where none is kept.
  public func epoch(for audience: TokenAudience?) -> UInt64? {
    guard let audience else { return accessEpoch ?? tokenEpoch }
    return confirmed?.audiences[audience]?.token?.epoch
  }

  /// Whether the access token is still one of those that callers do not want any more.
  func isUnrenewed(for audience: TokenAudience?, since epochs: [UInt64]) -> Bool {
    epoch(for: audience).map { epochs.contains($0) } ?? true
  }

  /// The last refusal that concerns this access token.
  func refusal(for audience: TokenAudience?) -> RenewalRefusal? {
    guard let audience else { return refusal }
    return confirmed?.audiences[audience]?.refusal
  }

  /// The confirmed tokens changed, or are gone.
  mutating func advanceEpoch() {
    tokenEpoch &+= 1
    accessEpoch = nil
    isAccessRefused = false
  }

  /// The confirmed tokens changed, and the session's own access token did not.
  mutating func advanceEpochBesideAccess() {
    accessEpoch = accessEpoch ?? tokenEpoch
    tokenEpoch &+= 1
  }
}
