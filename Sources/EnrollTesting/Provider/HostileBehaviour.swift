// Hostile behaviour of a fake provider that a client must refuse, in contrast to peculiarities that it must accept.

import EnrollSteps
public import EnrollRules

extension FakeProvider {
  /// A behaviour that must be refused.
  public enum HostileBehaviour: Sendable, CaseIterable {
    /// `tid` names a different tenant than `iss`.
    case foreignTenant
    /// `tid` and `iss` name something that is not a tenant.
    case tenantThatIsNone
    /// The key names the issuer of another tenant.
    case foreignKeyIssuer
    /// `aud` does not contain the client.
    case audienceWithoutUs
    /// The `auth_time` of a renewed id_token is before the sign-in.
    case authTimeBackwards
    /// Two keys have the same `kid` and `alg`.
    case twoKeysOneKid
    /// An answer with tokens also contains an `error`.
    case errorBesideToken
    /// The profile belongs to another user.
    case anotherUserinfoSubject
    /// The browser returns from a logout without `state`.
    case logoutWithoutState
  }

  /// Makes the provider behave in this way from now on.
  public func misbehave(_ behaviour: HostileBehaviour) {
    state.withLock { _ = $0.hostileBehaviours.insert(behaviour) }
  }

  func has(_ behaviour: HostileBehaviour) -> Bool {
    state.withLock { $0.hostileBehaviours.contains(behaviour) }
  }

  /// The user's tenant, if the provider has tenants.
  public static let tenant = "0f1e2d3c-4b5a-4678-9abc-def012345678"
  /// A tenant that is not the user's.
  static let foreignTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

  /// The requests that contain a secret in a wrong place: in the URL, or in a request to an endpoint that needs no
  /// client secret.
  public func leaks(of secret: String) -> [HTTPRequest] {
    let due: [Endpoint?] = [.token, .revocation, .deviceAuthorization, .pushed]
    return requests.filter { endpoint, request in
      if request.url.contains(secret) || request.url.contains(encoded(secret)) { return true }
      guard !due.contains(endpoint) else { return false }
      let shown = request.headers.map(\.value) + [String(decoding: request.body, as: UTF8.self)]
      return shown.contains { $0.contains(secret) || $0.contains(encoded(secret)) }
    }.map(\.request)
  }
}
