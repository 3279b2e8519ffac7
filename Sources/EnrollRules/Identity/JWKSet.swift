// The keys of an issuer (RFC 7517 §5, R20, R22). A set with an unusable key is still valid. So is a set in which two
// keys have the same `kid`: only a token that either of them could have signed is refused.

public import EnrollCrypto
import EnrollJSON

/// The usable keys of one issuer.
public struct JWKSet: Sendable {
  /// The maximum number of keys in one document (R20).
  public static let keyLimit = 100
  /// The maximum number of bytes of one document (R20).
  public static let bodyLimit = 512 << 10

  public let keys: [JWK]
  /// The keys that were left out, and why.
  public let unusable: [JWK.Unusable]

  /// Requests the document at the provider's `jwks_uri`.
  /// - Parameter knownTag: the ETag of the stored document; status 304 then says that it is still valid.
  public static func request(_ uri: String, knownTag: String? = nil) -> HTTPRequest {
    var headers = [HTTPHeader("Accept", "application/jwk-set+json, application/json")]
    if let condition = EntityTag.condition(knownTag) { headers.append(condition) }
    return HTTPRequest(.get, uri, headers: headers, responseLimit: bodyLimit)
  }

  /// Reads the response to ``request(_:)``.
  /// - Throws: `.keysUnavailable` for a status other than 200; the errors of ``parse(_:)``.
  public static func accept(_ response: HTTPResponse) throws(EnrollError) -> JWKSet {
    guard response.status == 200 else {
      throw EnrollError(
        .keysUnavailable,
        "the request for the issuer's keys got status \(response.status)\(response.place)"
          + RetryAfter.words(of: response),
        httpStatus: response.status, retryAfterSeconds: RetryAfter.seconds(of: response))
    }
    return try parse(response.body)
  }

  /// - Throws: `.keysUnavailable` if the document is too large, is not JSON, is not a key set, or has more than
  ///   ``keyLimit`` keys.
  public static func parse(_ body: [UInt8]) throws(EnrollError) -> JWKSet {
    guard body.count <= bodyLimit else { throw refusal("it has more than \(bodyLimit) bytes") }
    let document: JSON
    do throws(JSONError) { document = try JSON.parse(body) } catch {
      throw EnrollError(.keysUnavailable, refused + ": it is not JSON: ", error)
    }
    guard let entries = document["keys"]?.array else { throw refusal("it has no array of keys") }
    guard entries.count <= keyLimit else {
      throw refusal("it has \(entries.count) keys, more than \(keyLimit)")
    }

    var keys: [JWK] = []
    var unusable: [JWK.Unusable] = []
    for entry in entries {
      do throws(JWK.Unusable) { keys.append(try JWK(entry)) } catch {
        // Without this error the stored set would lack a good key.
        guard error.cause.reason != .memory else { throw EnrollError(error.cause, refused) }
        unusable.append(error)
      }
    }
    return JWKSet(keys: keys, unusable: unusable)
  }

  /// The keys with which a token with this header may be signed; a key that is published several times counts once. A
  /// token without `kid` may be signed with any key that fits. A token with `kid` must be signed with the key that has
  /// this `kid`, so a second such key is a fault (R22). A single key without a `kid` counts for any `kid`.
  public func candidates(keyID: String?, algorithm: SignatureAlgorithm) -> [JWK] {
    var fitting: [JWK] = []
    for key in named(keyID) where key.fits(algorithm) {
      let components = key.key.components
      if !fitting.contains(where: { $0.key.components == components }) { fitting.append(key) }
    }
    return fitting
  }

  /// The keys with this `kid`, whatever their use. All keys if `keyID` is nil, or if the only key has no `kid`.
  func named(_ keyID: String?) -> [JWK] {
    guard let keyID, keys.count > 1 || keys.first?.keyID != nil else { return keys }
    return keys.filter { $0.keyID.map { ASCII.equals($0, keyID) } ?? false }
  }

  private static let refused = "the issuer's key set is refused"

  private static func refusal(_ message: String) -> EnrollError {
    EnrollError(.keysUnavailable, "\(refused): \(message)")
  }
}
