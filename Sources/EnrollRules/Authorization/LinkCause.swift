// The links that arrived for a registration, and the link that began a sign-in (flows.md §3, §4).

/// The link that began a sign-in.
public struct LinkCause: Equatable, Sendable {
  /// The kind of link.
  public enum Source: String, Sendable, CaseIterable {
    /// The activation link in the e-mail of a registration.
    case activation
    /// The gateway's fallback link (flows.md §4).
    case fallback
  }

  /// The kind of link.
  public var source: Source
  /// The transaction for which the link arrived: it is settled together with the sign-in.
  public var origin: TransactionID

  public init(_ source: Source, for origin: TransactionID) {
    self.source = source
    self.origin = origin
  }
}

/// The activation tokens that were used for one registration.
public struct SpentLinks: Equatable, Sendable {
  /// The number of tokens that are kept; a new token replaces the oldest.
  static let limit = 32

  /// SHA-256 of each token, base64url, the newest last.
  public private(set) var hashes: [String]

  public init(_ hashes: [String] = []) { self.hashes = hashes }

  mutating func add(_ hash: String) {
    hashes.append(hash)
    if hashes.count > SpentLinks.limit { hashes.removeFirst() }
  }

  func contains(_ hash: String) -> Bool { hashes.contains { ASCII.equals($0, hash) } }
}

extension TransactionRecord {
  /// The link that began this transaction.
  package var cause: LinkCause? {
    if case .signIn(let signIn) = flow { signIn.cause } else { nil }
  }

  /// Whether the transaction's only fallback was used; nil for flows without a fallback link (flows.md §4).
  package var hasFallenBack: Bool? {
    switch flow {
    case .signIn(let signIn): signIn.hasFallenBack
    case .registration(let registration): registration.hasFallenBack
    case .magicLink, .oneTimeCode, .app2app, .bff, .device: nil
    }
  }

  /// Whether the transaction waits for the link in an e-mail, even if it was cancelled (flows.md §3). The link begins
  /// another transaction, or opens a page.
  package var isRegistration: Bool {
    if case .registration = flow { true } else { false }
  }

  /// Whether a fallback link can belong to the transaction (flows.md §4).
  package var takesFallback: Bool { isOpen && hasFallenBack != nil }

  /// The requirements for the id_token, which also apply to the sign-in that a link begins.
  package var demands: IDTokenDemands {
    if case .registration(let registration) = flow { return registration.demands }
    return codeRequest?.demands ?? IDTokenDemands()
  }

  package func hasSpent(_ hash: String) -> Bool {
    if case .registration(let registration) = flow { registration.spentLinks.contains(hash) } else { false }
  }

  /// Records a new e-mail link: it allows a new fallback, and reopens a cancelled registration.
  mutating func spend(_ hash: String) {
    guard case .registration(var registration) = flow else { return }
    registration.spentLinks.add(hash)
    registration.hasFallenBack = false
    flow = .registration(registration)
    if isOpen { status = .pending }
  }

  /// Records that the transaction's only fallback is used.
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

  /// Sets whether the browser of a registration is open; if not, the registration waits for the link in an e-mail.
  package mutating func setInBrowser(_ isInBrowser: Bool) {
    guard case .registration(var registration) = flow else { return }
    registration.isInBrowser = isInBrowser
    flow = .registration(registration)
  }
}

extension TransactionRecord {
  /// Whether this is the silent sign-in of a fallback, which finds out whether a user is signed in at the provider.
  package var isSilentFallback: Bool {
    cause?.source == .fallback && (codeRequest?.prompt.map { ASCII.equals($0, "none") } ?? false)
  }

  /// The error for the host. If a link in an e-mail began the sign-in, the error is `.activationFailed`, so that the
  /// host knows what to offer.
  package func explained(_ error: EnrollError) -> EnrollError {
    guard cause?.source == .activation else { return error }
    return EnrollError(
      .activationFailed, "after the link of an e-mail, " + error.message, oauthError: error.oauthError,
      oauthErrorDescription: error.oauthErrorDescription)
  }
}
