// The rate limits. A rule describes a bucket, which holds `requests` and refills evenly within `seconds`.

import EnrollHTTP

/// A kind of request that has its own counters.
public enum LimitKind: String, Sendable, CaseIterable {
  /// The start of a sign-in.
  case start
  /// A callback from a provider.
  case callback
  /// The redemption of an app's code.
  case redeem
  /// A request that causes an e-mail.
  case mail
  /// A password attempt.
  case password
}

/// The client or person whose requests are counted together.
public enum LimitKey: Sendable, Equatable {
  /// The client's address from ``WebRequest/client``; for IPv6 only the first 64 bits count.
  case client(String)
  /// An account's id or an e-mail address; case is ignored. Only its hash is stored, in memory and in the database.
  case person(String)

  public var scope: LimitScope {
    switch self {
    case .client: .client
    case .person: .person
    }
  }
}

/// The kind of a ``LimitKey``.
public enum LimitScope: String, Sendable, CaseIterable { case client, person }

/// A bucket.
public struct LimitRule: Sendable, Equatable {
  /// The capacity, which is the size of a burst: 1 to 1,000,000.
  public var requests: Int64
  /// The number of seconds in which an empty bucket becomes full: 1 to 86,400.
  public var seconds: Int64

  public init(requests: Int64, seconds: Int64) {
    self.requests = requests
    self.seconds = seconds
  }
}

/// The rules of a gateway.
public struct LimitRules: Sendable, Equatable {
  /// The rule for requests of this kind and scope; nil if such requests are not limited.
  public subscript(kind: LimitKind, scope: LimitScope) -> LimitRule? {
    get { scope == .client ? clients[kind] : persons[kind] }
    set { if scope == .client { clients[kind] = newValue } else { persons[kind] = newValue } }
  }

  private var clients: [LimitKind: LimitRule] = [
    .start: LimitRule(requests: 120, seconds: 60), .callback: LimitRule(requests: 120, seconds: 60),
    .redeem: LimitRule(requests: 120, seconds: 60), .mail: LimitRule(requests: 20, seconds: 3_600),
    .password: LimitRule(requests: 30, seconds: 600),
  ]
  private var persons: [LimitKind: LimitRule] = [
    .mail: LimitRule(requests: 5, seconds: 3_600), .password: LimitRule(requests: 10, seconds: 3_600),
  ]

  /// The defaults.
  public init() {}
}
