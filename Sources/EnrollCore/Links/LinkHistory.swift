// What a transaction knows of the links that came for it, and of the link that began it (flows.md §3, §4).

/// Part of a transaction; empty for one that no link has to do with.
public struct LinkHistory: Equatable, Sendable {
  /// Tokens that are remembered for one transaction; the oldest gives way.
  static let spentLimit = 32

  /// What began the transaction.
  /// Which link began a transaction.
  public enum Source: String, Sendable, CaseIterable {
    /// The one in the e-mail of a registration.
    case activation
    /// The one that lost its way (flows.md §4).
    case fallback
  }

  /// SHA-256 of the activation tokens that were spent on it, base64url, the newest last.
  public var spent: [String]
  /// The transaction that the link came for: settled together with this one.
  public var origin: String?
  /// nil where the host began it by itself.
  public var source: Source?
  /// Its one fallback was taken, here or in what led to it: there is no way round in a circle.
  public var hasFallenBack: Bool

  public init(
    spent: [String] = [], origin: String? = nil, source: Source? = nil, hasFallenBack: Bool = false
  ) {
    self.spent = spent
    self.origin = origin
    self.source = source
    self.hasFallenBack = hasFallenBack
  }

  /// A new link of an e-mail: with it the way back may fail anew.
  mutating func spend(_ hash: String) {
    spent.append(hash)
    if spent.count > LinkHistory.spentLimit { spent.removeFirst() }
    hasFallenBack = false
  }

  func hasSpent(_ hash: String) -> Bool { spent.contains { ASCII.equals($0, hash) } }
}

extension TransactionRecord.Details {
  /// Empty where nothing of the kind is kept.
  var links: LinkHistory {
    if case .links(let history) = self { return history }
    return LinkHistory()
  }

  /// What outlives the transaction: links that were used stay known until its deadline.
  var remains: TransactionRecord.Details {
    links.spent.isEmpty ? .none : .links(LinkHistory(spent: links.spent))
  }
}

extension TransactionRecord {
  /// May still take the link of an e-mail (flows.md §3). The link begins another transaction, or opens a page.
  func awaitsLink(at moment: Moment) -> Bool {
    kind == .register && isOpen && deadline.secondsLeft(at: moment) > 0
  }

  /// A fallback link can be about it (flows.md §4).
  var takesFallback: Bool { (kind == .signIn || kind == .register) && isOpen }
}

extension AccountRecord {
  /// The newest registration that waits for a link and that nobody gave up.
  func linkWait(at moment: Moment) -> TransactionRecord? {
    transactions.last { $0.awaitsLink(at: moment) && $0.status == .pending }
  }

  mutating func changeLinks(of transactionID: String, _ change: (inout LinkHistory) -> Void) {
    guard let index = transactions.firstIndex(where: { ASCII.equals($0.id, transactionID) }) else { return }
    var history = transactions[index].details.links
    change(&history)
    transactions[index].details = .links(history)
  }

  /// Tokens came: the wait for the link that led to them, and the sign-in that fell back, are over with them.
  mutating func settleOrigins(of transaction: TransactionRecord) {
    var origin = transaction.details.links.origin
    for _ in 0..<Engine.transactionLimit {
      guard let id = origin,
        let before = transactions.first(where: { ASCII.equals($0.id, id) && $0.isOpen })
      else { return }
      origin = before.details.links.origin
      settle(id, as: .succeeded)
    }
  }
}
