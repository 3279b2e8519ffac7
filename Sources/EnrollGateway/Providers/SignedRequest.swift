// The `signed_request` that Facebook's servers send in a callback: a signature and JSON, both in base64url, with a dot
// between them (Meta for Developers, Data Deletion Request Callback). The signature is HMAC-SHA256 of the encoded
// second part, with the app secret. Refused: another algorithm, a request that is older than a day or from the future,
// and signed requests that Facebook's scripts pass to browsers.

import EnrollRules
import EnrollCrypto
import EnrollJSON

/// A verified message of the provider about one of its users.
struct SignedRequest: Equatable {
  /// `user_id`, the user's id for this app.
  let subject: String
  let issued: UnixTime
  /// 32 bytes that identify the request. Only somebody with the request or the app secret can know these bytes.
  let signature: [UInt8]

  static let byteLimit = 4_096
  static let longestSeconds: Int64 = 86_400
  static let toleranceSeconds: Int64 = 300

  /// - Throws: `.idTokenInvalid` with the reason for the refusal; `.internal` if the HMAC cannot be computed.
  init(_ text: String, secret: Secret, at now: UnixTime) throws(EnrollError) {
    guard text.utf8.count <= Self.byteLimit else {
      throw Self.refusal("it has more than \(Self.byteLimit) bytes")
    }
    let parts = Array(text.utf8).split(separator: 0x2E, omittingEmptySubsequences: false)
    guard parts.count == 2, let signature = Base64URL.decode(parts[0]) else {
      throw Self.refusal("expected a signature and a payload in base64url")
    }
    let own: [UInt8]
    do throws(CryptoError) { own = try HMAC.sha256(key: secret, Array(parts[1])) } catch {
      throw EnrollError(error, "HMAC failed")
    }
    guard ConstantTime.equal(own, signature) else {
      throw Self.refusal("the signature is not by the app secret")
    }
    guard let bytes = Base64URL.decode(parts[1]), let payload = (try? JSON.parse(bytes))?.object else {
      throw Self.refusal("the payload is no JSON object")
    }
    guard payload["algorithm"]?.string.map({ ASCII.equals($0, "HMAC-SHA256") }) ?? false else {
      throw Self.refusal("algorithm is not HMAC-SHA256")
    }
    // Facebook signs other data with the same secret: the data that its scripts pass to a browser when a user signs in,
    // and the data for an app's page inside a frame.
    for name in ["code", "oauth_token"] where payload[name] != nil {
      throw Self.refusal("it has \(name), so it comes from a browser")
    }
    guard let seconds = payload["issued_at"]?.integer else { throw Self.refusal("issued_at is missing") }
    issued = UnixTime(seconds: seconds)
    guard issued <= now + Self.toleranceSeconds else { throw Self.refusal("issued_at is in the future") }
    guard issued >= now - Self.longestSeconds else { throw Self.refusal("issued_at is more than a day ago") }
    guard let subject = payload["user_id"]?.string, !subject.utf8.contains(0),
      (1...SignInProvider.subjectLimit).contains(subject.utf8.count)
    else { throw Self.refusal("user_id is no text of 1 to \(SignInProvider.subjectLimit) bytes") }
    self.subject = subject
    self.signature = signature
  }

  private static func refusal(_ text: String) -> EnrollError {
    EnrollError(.idTokenInvalid, "signed_request refused: \(text)")
  }
}
