// The answer to a URL that reached the app (flows.md §4).

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
