// Where a provider of the zoo is hostile: what nobody may accept, beside each peculiarity that has to be accepted.

public import EnrollCore

extension ZooProvider {
  /// Something that must be refused.
  public enum Twist: Sendable, CaseIterable {
    /// `tid` is another tenant than the one in `iss`.
    case foreignTenant
    /// `tid` and `iss` name something that is no tenant.
    case tenantThatIsNone
    /// The key names another tenant's issuer.
    case foreignKeyIssuer
    /// `aud` does not hold the client.
    case audienceWithoutUs
    /// `auth_time` of a renewed id_token is before the sign-in.
    case authTimeBackwards
    /// Two keys have the same `kid` and `alg`.
    case twoKeysOneKid
    /// An answer with tokens holds an `error`, too.
    case errorBesideToken
    /// The profile is of another user.
    case anotherUserinfoSubject
    /// The browser comes back from a logout without `state`.
    case logoutWithoutState
  }

  /// A tenant that is not the user's.
  static let foreignTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

  /// Requests that show a secret where it must not be: in a URL, or to an endpoint that takes no client secret.
  public func leaks(of secret: String) -> [HTTPRequest] {
    let due: [Role] = [.token, .revocation, .device, .pushed]
    return requests.filter { role, request in
      if request.url.contains(secret) || request.url.contains(encoded(secret)) { return true }
      guard !due.contains(role) else { return false }
      let shown = request.headers.map(\.value) + [String(decoding: request.body, as: UTF8.self)]
      return shown.contains { $0.contains(secret) || $0.contains(encoded(secret)) }
    }.map(\.request)
  }
}
