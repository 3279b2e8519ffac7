// A text that the provider signed and that is not an id_token: a logout token (OpenID Connect Back-Channel Logout 1.0
// §2.4), or a notification.

package import EnrollCrypto
package import EnrollJSON
package import EnrollRules

extension ProviderDirectory {
  /// The claims of a signed text that is not an id_token. Only the signature is verified, with a key that may sign for
  /// the issuer in `iss`. The caller checks every claim. The algorithm must be the algorithm of the client's id_tokens
  /// (OpenID Connect Back-Channel Logout 1.0 §2.6).
  /// - Parameters:
  ///   - name: the name of the signed text in error texts, such as `logout_token`.
  ///   - algorithms: the algorithms that are accepted before the first id_token.
  /// - Throws: as ``verify(_:expecting:cancellation:)``.
  package func claims(
    signedIn text: Secret, named name: String, algorithms: [SignatureAlgorithm],
    cancellation: (any Cancellation)?
  ) throws(EnrollError) -> JSONObject {
    do throws(EnrollError) {
      let token = try IDToken.Unverified(signatureOf: text)
      let signed = try prove(
        token, algorithms: idTokenAlgorithm.map { [$0] } ?? algorithms, isFromStranger: true,
        cancellation: cancellation)
      guard let claims = (try? JSON.parse(signed.payload))?.object else {
        throw IDTokenClaims.refusal("it is no JSON object")
      }
      try signed.checkKey(signing: Issuer(claims["iss"]?.string ?? ""), of: issuer)
      return claims
    } catch {
      throw error.saying(Self.text(error.message, of: name))
    }
  }

  /// The message with `name` in place of "id_token", because the rules write their messages for id_tokens.
  private static func text(_ message: String, of name: String) -> String {
    let (bytes, word) = (message.utf8, "id_token".utf8)
    guard bytes.starts(with: word) else { return message }
    return name + String(decoding: bytes.dropFirst(word.count), as: UTF8.self)
  }
}

extension EnrollError {
  /// The error for a token if even the freshly fetched keys include no key for it. If anybody may have sent the token,
  /// the fault is in the token, and the error is `.idTokenInvalid`.
  func ofToken(_ isFromStranger: Bool) -> EnrollError {
    isFromStranger && code == .keysUnavailable ? IDTokenClaims.refusal(message) : self
  }
}
