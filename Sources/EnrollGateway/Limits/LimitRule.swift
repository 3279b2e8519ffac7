// What is limited, and by how much. A rule is a bucket: it holds `requests`, and fills again evenly within `seconds`.

import EnrollHTTP

/// What is counted on its own.
public enum LimitKind: String, Sendable, CaseIterable {
  /// Sign-ins that begin.
  case start
  /// Answers of providers.
  case callback
  /// Codes of apps.
  case redeem
  /// E-mails that somebody causes.
  case mail
  /// Passwords that somebody tries.
  case password
}

/// Whose requests are counted together.
public enum LimitKey: Sendable, Equatable {
  /// The client's address, as ``WebRequest/client`` has it; of IPv6 the first 64 bits.
  case client(String)
  /// An account's id or an e-mail address. Its case does not matter. Neither memory nor database holds it: only its hash.
  case person(String)

  public var scope: LimitScope {
    switch self {
    case .client: .client
    case .person: .person
    }
  }
}

/// The sort of a ``LimitKey``.
public enum LimitScope: String, Sendable, CaseIterable { case client, person }

/// A bucket.
public struct LimitRule: Sendable, Equatable {
  /// At once, when nothing was asked for before: 1 to 1,000,000.
  public var requests: Int64
  /// In which an empty bucket fills: 1 to 86,400.
  public var seconds: Int64

  public init(requests: Int64, seconds: Int64) {
    self.requests = requests
    self.seconds = seconds
  }
}

/// The rules of a gateway.
public struct LimitRules: Sendable, Equatable {
  /// nil: such requests are not limited.
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
