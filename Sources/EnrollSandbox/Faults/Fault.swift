// Misbehaviour as values: what goes wrong, at which endpoint, how often.

public import EnrollJSON

/// A planned fault. It strikes matching requests in the order they come.
public struct Fault: Sendable, Equatable {
  public var endpoint: Endpoint
  public var effects: [Effect]
  /// Requests that go well before the first one is struck.
  public var after: Int
  /// Requests struck; nil: all, until the faults are cleared.
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

  /// One thing that goes wrong. ``FaultTable`` gives names to the useful ones.
  public enum Effect: Sendable, Equatable {
    // Instead of an answer: the request is not processed.
    /// The connection is closed; the request had no effect.
    case dropBefore
    /// An empty answer with that status.
    case status(Int, retryAfter: String? = nil)
    /// An OAuth error (RFC 6749 §5.2), or the same as a redirect from the authorize endpoint.
    case oauthError(String, status: Int = 400)
    /// A redirect that no client should follow on a POST (R20).
    case redirect(to: String, status: Int = 307)
    /// A body that is not JSON.
    case garbage
    /// A 200 with nothing in it.
    case emptyBody
    /// A JSON body of that many bytes (R20).
    case hugeBody(bytes: Int)
    /// JSON nested that deep (R37).
    case deepNesting(levels: Int)

    // The answer of a JSON endpoint altered.
    case omitMember(String)
    case setMember(String, JSON)
    /// The member occurs twice, with that value the second time (R37).
    case repeatMember(String, JSON)

    // The redirect of the authorize or end_session endpoint altered.
    case omitParameter(String)
    case setParameter(String, String)
    case repeatParameter(String)
    case fragment(String)

    // The id_token altered, then signed.
    case omitClaim(String)
    case setClaim(String, JSON)
    /// One more audience, and no `azp`.
    case addAudience(String)
    /// Seconds added to `iat`, `exp` and `auth_time`.
    case shiftTimes(seconds: Int64)
    /// A header member replaced or, with nil, left out.
    case setHeader(String, JSON?)
    case sign(Signing)

    // The set of keys altered.
    case keySet(KeySetDefect)

    // Token endpoint: the refresh token of the request stays the current one, and none is sent.
    case noRotation
    // Token endpoint: a Bearer token although a key was proven.
    case unbound
    // Another nonce is demanded, whatever the proof holds (RFC 9449 §8).
    case demandNonce

    // The way the answer is sent: the request was processed.
    /// The connection is closed without a byte after the request took effect: "answer lost after rotation".
    case dropAfter
    case halfBody
    case delay(milliseconds: Int64)
    /// `Content-Encoding: gzip` over a body that is not (R20).
    case compressed
    case contentType(String)
    /// Seconds added to the `Date` header.
    case dateOffset(seconds: Int64)
  }

  /// How the id_token is signed instead of properly.
  public enum Signing: String, Sendable, Equatable {
    /// `alg: none` and no signature.
    case none
    /// HS256 with the client id as the key.
    case hmac
    /// The right algorithm, one bit of the signature turned.
    case broken
    /// A key that is not in the set, under the right `kid`.
    case foreignKey
  }

  public enum KeySetDefect: String, Sendable, Equatable {
    /// No key at all.
    case empty
    /// The signing key's `kid` occurs twice (R22).
    case duplicateKeyID
    /// Every key says `use: enc` (R22).
    case wrongUse
    /// RSA keys of 1024 bits under the right `kid` (R22).
    case weakKey
    /// 101 keys (R20).
    case tooMany
  }
}

extension Fault.Effect {
  /// True when the request is answered without being processed.
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

/// The faults still to come.
struct FaultPlan: Sendable {
  private(set) var faults: [Fault] = []

  static let limit = 1000

  mutating func add(_ fault: Fault) {
    if faults.count < Self.limit { faults.append(fault) }
  }

  mutating func clear() { faults = [] }

  /// The effect on a request that has just arrived at that endpoint. Uses up one turn of every matching fault.
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
