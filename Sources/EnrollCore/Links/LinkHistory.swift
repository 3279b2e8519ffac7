// The links that arrived for a registration, and the link that began a sign-in (flows.md §3, §4).

/// The link that began a sign-in.
public struct LinkCause: Equatable, Sendable {
  /// Which link it was.
  public enum Source: String, Sendable, CaseIterable {
    /// The one in the e-mail of a registration.
    case activation
    /// The one that lost its way (flows.md §4).
    case fallback
  }

  /// Which link it was.
  public var source: Source
  /// The transaction that the link came for: settled together with the sign-in.
  public var origin: TransactionID

  public init(_ source: Source, for origin: TransactionID) {
    self.source = source
    self.origin = origin
  }
}

/// The activation tokens that were used for one registration.
public struct SpentLinks: Equatable, Sendable {
  /// Tokens that are remembered; the oldest gives way.
  static let limit = 32

  /// SHA-256 of each, base64url, the newest last.
  public private(set) var hashes: [String]

  public init(_ hashes: [String] = []) { self.hashes = hashes }

  mutating func add(_ hash: String) {
    hashes.append(hash)
    if hashes.count > SpentLinks.limit { hashes.removeFirst() }
  }

  func contains(_ hash: String) -> Bool { hashes.contains { ASCII.equals($0, hash) } }
}

extension TransactionRecord {
  /// The link that began it.
  var cause: LinkCause? {
    if case .signIn(let signIn) = flow { signIn.cause } else { nil }
  }

  /// Whether its one fallback was taken; nil for flows that no fallback link can be about (flows.md §4).
  var hasFallenBack: Bool? {
    switch flow {
    case .signIn(let signIn): signIn.hasFallenBack
    case .registration(let registration): registration.hasFallenBack
    case .magicLink, .oneTimeCode, .app2app, .bff, .device: nil
    }
  }

  /// Waits for the link of an e-mail, whether or not somebody gave it up (flows.md §3). The link begins another
  /// transaction, or opens a page.
  var isRegistration: Bool {
    if case .registration = flow { true } else { false }
  }

  /// A fallback link can be about it (flows.md §4).
  var takesFallback: Bool { isOpen && hasFallenBack != nil }

  /// The demands on the id_token, which apply again to the sign-in that a link begins.
  var demands: IDTokenDemands {
    if case .registration(let registration) = flow { return registration.demands }
    return codeRequest?.demands ?? IDTokenDemands()
  }

  func hasSpent(_ hash: String) -> Bool {
    if case .registration(let registration) = flow { registration.spentLinks.contains(hash) } else { false }
  }

  /// A new link of an e-mail: with it the way back may fail anew, and whoever follows it has not given up.
  mutating func spend(_ hash: String) {
    guard case .registration(var registration) = flow else { return }
    registration.spentLinks.add(hash)
    registration.hasFallenBack = false
    flow = .registration(registration)
    if isOpen { status = .pending }
  }

  /// Its one fallback is taken.
  mutating func fallBack() {
    switch flow {
    case .signIn(var signIn):
      signIn.hasFallenBack = true
      flow = .signIn(signIn)
    case .registration(var registration):
      registration.hasFallenBack = true
      flow = .registration(registration)
    case .magicLink, .oneTimeCode, .app2app, .bff, .device: break
    }
  }

  /// The browser of a registration was opened, or left for the link of an e-mail.
  mutating func setInBrowser(_ isInBrowser: Bool) {
    guard case .registration(var registration) = flow else { return }
    registration.isInBrowser = isInBrowser
    flow = .registration(registration)
  }
}

extension AccountRecord {
  /// The newest registration that waits for a link and that nobody gave up.
  func linkWait(at moment: Moment) -> TransactionRecord? {
    transactions.last { $0.isRegistration && $0.status == .pending && $0.isLive(at: moment) }
  }

  /// Tokens came: the wait for the link that led to them, and the sign-in that fell back, are over with them.
  mutating func settleOrigins(of transaction: TransactionRecord) {
    var origin = transaction.cause?.origin
    for _ in 0..<Engine.transactionLimit {
      guard let before = origin.flatMap({ transactions.named($0) }), before.isOpen else { return }
      origin = before.cause?.origin
      settle(before.id, as: .succeeded)
    }
  }
}
