// The outcome of a URL that reached the app, or of a link (flows.md §4): what the host must do now, or why nothing is to do
// and what it may offer instead.

/// The meaning of a URL that reached the app.
public enum HandledURL: Equatable, Sendable {
  /// A redirect, or an activation link that stands for one: the registration is in this state now.
  case registration(RegistrationState)
  /// The callback of a logout that this client began.
  case logoutFinished
  /// An activation or fallback link continued the sign-in: do what the transaction's action says.
  case begun(Transaction)
  /// A link that has no effect: used, expired, or another client's.
  case refused(LinkRefusal)
  /// Not for EnrollKit: leave it to the rest of the app.
  case unsolicited
}

/// The answer to an activation or fallback link.
public enum HandledLink: Equatable, Sendable {
  /// Open what the action says.
  case begun(Transaction)
  /// Nothing was begun, and nothing changed.
  case refused(LinkRefusal)
}

/// Why a link led nowhere.
public struct LinkRefusal: Equatable, Sendable {
  /// Why a link led nowhere.
  public enum Reason: String, Sendable, CaseIterable {
    /// Nobody here waits for it. The host may begin a registration and hand the link in again.
    case unsolicited
    /// The link came before; a fallback was taken before.
    case used
    /// The transaction that waited for it has expired.
    case expired
  }

  /// Why it led nowhere.
  public var reason: Reason
  /// The best first.
  public var offers: [LinkOffer]

  public init(_ reason: Reason, offers: [LinkOffer]) {
    self.reason = reason
    self.offers = offers
  }
}

/// The ways forward that a host may offer if a link has no effect.
public enum LinkOffer: String, Sendable, CaseIterable {
  /// The account may exist by now: the link may have been opened in another browser.
  case signIn
  /// Begin a registration: another e-mail is sent.
  case register
}

extension LinkRefusal {
  static func activation(_ reason: Reason) -> LinkRefusal {
    // Not two literals: Swift 6.3.1 makes one of them for both orders when it optimizes Embedded Swift for size.
    let best: LinkOffer = reason == .expired ? .register : .signIn
    let next: LinkOffer = reason == .expired ? .signIn : .register
    return LinkRefusal(reason, offers: [best, next])
  }

  static func fallback(_ reason: Reason) -> LinkRefusal { LinkRefusal(reason, offers: [.signIn]) }
}
