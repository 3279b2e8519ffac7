// Faults as values: the kind of misbehaviour, the endpoint, and the number of requests.

public import EnrollJSON

/// A planned fault. It affects matching requests in the order in which they arrive.
public struct Fault: Sendable, Equatable {
  public var endpoint: Endpoint
  public var effects: [Effect]
  /// How many matching requests are answered correctly before the fault affects one.
  public var after: Int
  /// How many requests are affected; nil for all requests until the faults are cleared.
  public var times: Int?

  public init(_ effects: Effect..., at endpoint: Endpoint, after: Int = 0, times: Int? = nil) {
    self.init(effects, at: endpoint, after: after, times: times)
  }

  public init(_ effects: [Effect], at endpoint: Endpoint, after: Int = 0, times: Int? = nil) {
    self.endpoint = endpoint
    self.effects = effects
    self.after = after
    self.times = times
  }

  /// One effect of a fault. ``FaultTable`` has a name for each effect that is useful in tests.
  public enum Effect: Sendable, Equatable {
    // The next effects replace the answer: the request is not processed.
    /// The connection is closed; the request had no effect.
    case dropBefore
    /// An empty answer with this status.
    case status(Int, retryAfter: String? = nil)
    /// An OAuth error (RFC 6749 §5.2); at the authorization endpoint a redirect with this error.
    case oauthError(String, status: Int = 400)
    /// A redirect that a client must not follow for a POST (R20).
    case redirect(to: String, status: Int = 307)
    /// A body that is not JSON.
    case garbage
    /// A 200 with an empty body.
    case emptyBody
    /// A JSON body with this many bytes (R20).
    case hugeBody(bytes: Int)
    /// A JSON body with this many levels of nesting (R37).
    case deepNesting(levels: Int)

    // The next effects alter the answer of a JSON endpoint.
    case omitMember(String)
    case setMember(String, JSON)
    /// The member occurs twice, the second time with this value (R37).
    case repeatMember(String, JSON)

    // The next effects alter the redirect of the authorization or end_session endpoint.
    case omitParameter(String)
    case setParameter(String, String)
    case repeatParameter(String)
    case fragment(String)

    // The next effects alter the id_token before it is signed.
    case omitClaim(String)
    case setClaim(String, JSON)
    /// One more audience, and no `azp`.
    case addAudience(String)
    /// Adds this number of seconds to `iat`, `exp` and `auth_time`.
    case shiftTimes(seconds: Int64)
    /// Replaces a parameter of the id_token's header, or removes it if the value is nil.
    case setHeader(String, JSON?)
    case sign(Signing)

    // The next effect alters the key set.
    case keySet(KeySetDefect)

    // An effect on the token endpoint: the request's refresh token stays valid, and the answer contains no refresh
    // token.
    case noRotation
    // An effect on the token endpoint: it issues a Bearer token although the request has a DPoP proof.
    case unbound
    // The endpoint requires another nonce, whatever nonce the proof contains (RFC 9449 §8).
    case demandNonce

    // The next effects alter how the answer is sent: the request was processed.
    /// The connection is closed without a byte after the request took effect: "answer lost after rotation".
    case dropAfter
    case halfBody
    case delay(milliseconds: Int64)
    /// `Content-Encoding: gzip` with a body that is not compressed (R20).
    case compressed
    case contentType(String)
    /// Adds this number of seconds to the `Date` header.
    case dateOffset(seconds: Int64)
  }

  /// A wrong signature of the id_token.
  public enum Signing: String, Sendable, Equatable {
    /// `alg: none` and no signature.
    case none
    /// HS256 with the client id as the key.
    case hmac
    /// The right algorithm, with one bit of the signature changed.
    case broken
    /// Signed with a key that is not in the key set, under the right `kid`.
    case foreignKey
  }

  public enum KeySetDefect: String, Sendable, Equatable {
    /// The key set has no keys.
    case empty
    /// The signing key's `kid` occurs twice (R22).
    case duplicateKeyID
    /// Every key says `use: enc` (R22).
    case wrongUse
    /// RSA keys of 1024 bits under the right `kid` (R22).
    case weakKey
    /// The key set has 101 keys (R20).
    case tooMany
  }
}

extension Fault.Effect {
  /// True if the effect answers the request without processing it.
  var isInstead: Bool {
    switch self {
    case .dropBefore, .status, .oauthError, .redirect, .garbage, .emptyBody, .hugeBody, .deepNesting,
      .demandNonce:
      true
    case .omitMember, .setMember, .repeatMember, .omitParameter, .setParameter, .repeatParameter, .fragment,
      .omitClaim, .setClaim, .addAudience, .shiftTimes, .setHeader, .sign, .keySet, .noRotation, .unbound,
      .dropAfter,
      .halfBody,
      .delay, .compressed, .contentType, .dateOffset:
      false
    }
  }
}

/// The planned faults that have not yet affected all of their requests.
struct FaultPlan: Sendable {
  private(set) var faults: [Fault] = []

  static let limit = 1000

  mutating func add(_ fault: Fault) {
    if faults.count < Self.limit { faults.append(fault) }
  }

  mutating func clear() { faults = [] }

  /// Returns the effects on a request that has just arrived at the endpoint. Counts the request for every matching fault.
  mutating func strike(_ endpoint: Endpoint) -> [Fault.Effect] {
    var effects: [Fault.Effect] = []
    for index in faults.indices where faults[index].endpoint == endpoint {
      if faults[index].after > 0 {
        faults[index].after -= 1
      } else if let left = faults[index].times {
        guard left > 0 else { continue }
        faults[index].times = left - 1
        effects += faults[index].effects
      } else {
        effects += faults[index].effects
      }
    }
    faults.removeAll { $0.times.map { $0 <= 0 } ?? false }
    return effects
  }
}
