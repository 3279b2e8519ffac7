// The outcome of a URL or link that the app received (flows.md §4): what the host must do now, or why there is nothing
// to do and what it may offer instead.

/// The meaning of a URL that the app received.
public enum HandledURL: Equatable, Sendable {
  /// A redirect: the registration now has this state.
  case registration(RegistrationState)
  /// The callback of a logout that this client began.
  case logoutFinished
  /// An activation or fallback link continued the sign-in: perform the transaction's action.
  case begun(Transaction)
  /// A link that has no effect, because it was used, has expired, or belongs to another client.
  case refused(LinkRefusal)
  /// Not a URL for EnrollKit: leave it to the rest of the app.
  case unsolicited
}

/// The outcome of an activation or fallback link.
public enum HandledLink: Equatable, Sendable {
  /// Perform the transaction's action.
  case begun(Transaction)
  /// No transaction began, and nothing changed.
  case refused(LinkRefusal)
}

/// Why a link has no effect.
public struct LinkRefusal: Equatable, Sendable {
  /// Why a link has no effect.
  public enum Reason: String, Sendable, CaseIterable {
    /// No transaction waits for the link. The host may begin a registration and pass in the link again.
    case unsolicited
    /// The link was opened before, or the transaction's only fallback was used before.
    case used
    /// The transaction that waited for the link has expired.
    case expired
  }

  /// Why the link has no effect.
  public var reason: Reason
  /// The ways to continue that the host may offer, the best one first.
  public var offers: [LinkOffer]

  public init(_ reason: Reason, offers: [LinkOffer]) {
    self.reason = reason
    self.offers = offers
  }
}

/// The ways forward that a host may offer if a link has no effect.
public enum LinkOffer: String, Sendable, CaseIterable {
  /// Sign in: the account may exist by now, because the link may have been opened in another browser.
  case signIn
  /// Begin a registration: another e-mail is sent.
  case register
}

extension LinkRefusal {
  package static func activation(_ reason: Reason) -> LinkRefusal {
    // The order is not written as two array literals, because Swift 6.3.1 uses one literal for both when it
    // optimizes Embedded Swift for size.
    let best: LinkOffer = reason == .expired ? .register : .signIn
    let next: LinkOffer = reason == .expired ? .signIn : .register
    return LinkRefusal(reason, offers: [best, next])
  }

  package static func fallback(_ reason: Reason) -> LinkRefusal { LinkRefusal(reason, offers: [.signIn]) }
}
