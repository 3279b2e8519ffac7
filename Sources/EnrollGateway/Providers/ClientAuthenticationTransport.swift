// Adds the proprietary client authentication of two providers to requests: Apple's client secret to forms, Facebook's
// `appsecret_proof` to requests for the profile. An answer that repeats Apple's secret is refused (R40).

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHTTP

/// The transport of one provider.
final class ClientAuthenticationTransport: Transport {
  private let transport: any Transport
  private let appleSecrets: AppleSecrets?
  /// Facebook's app secret; nil if requests need no proof.
  private let appSecret: Secret?

  init(_ transport: any Transport, appleSecrets: AppleSecrets?, appSecret: Secret?) {
    self.transport = transport
    self.appleSecrets = appleSecrets
    self.appSecret = appSecret
  }

  var trust: String { transport.trust }

  func send(_ request: HTTPRequest, cancellation: (any Cancellation)?) throws(EnrollError) -> HTTPResponse {
    var request = request
    if let appSecret, request.method == .get, let token = Self.bearer(of: request) {
      request.url += request.url.utf8.contains(0x3F) ? "&" : "?"
      request.url += "appsecret_proof=" + (try Self.proof(of: token, appSecret))
    }
    guard let appleSecrets, request.method == .post, Self.isForm(request) else {
      return try transport.send(request, cancellation: cancellation)
    }
    let jwt = try appleSecrets.next()
    var field = FormEncoding(.body)
    field.add("client_secret", jwt)
    request.body += [0x26] + field.bytes
    let response = try transport.send(request, cancellation: cancellation)
    let isRepeated = jwt.withBytes { jwt in
      response.body.withUnsafeBytes { body in Self.contains(jwt, in: body) }
    }
    guard !isRepeated else {
      throw EnrollError(
        .responseInvalid, "the answer repeats the client's proof, and is not read",
        httpStatus: response.status)
    }
    return response
  }

  /// HMAC-SHA256 of the access token with the app secret, in hexadecimal (Facebook, Securing Graph API Requests).
  static func proof(of token: String, _ appSecret: Secret) throws(EnrollError) -> String {
    do throws(CryptoError) {
      return Hexadecimal.text(of: try HMAC.sha256(key: appSecret, Array(token.utf8)))
    } catch {
      throw EnrollError(error, "HMAC failed")
    }
  }

  private static func bearer(of request: HTTPRequest) -> String? {
    let values = request.headers.filter { ASCII.equalsIgnoringCase($0.name, "Authorization") }
    guard values.count == 1 else { return nil }
    let words = values[0].value.utf8.split(separator: 0x20)
    guard words.count == 2, let scheme = String(words[0]), ASCII.equalsIgnoringCase(scheme, "Bearer") else {
      return nil
    }
    return String(words[1])
  }

  private static func isForm(_ request: HTTPRequest) -> Bool {
    request.headers.contains {
      ASCII.equalsIgnoringCase($0.name, "Content-Type") && ASCII.equals($0.value, FormEncoding.contentType)
    }
  }

  private static func contains(_ part: UnsafeRawBufferPointer, in whole: UnsafeRawBufferPointer) -> Bool {
    guard !part.isEmpty, whole.count >= part.count else { return false }
    for start in 0...(whole.count - part.count) where whole[start] == part[0] {
      if whole[start..<(start + part.count)].elementsEqual(part) { return true }
    }
    return false
  }
}

enum Hexadecimal {
  /// The bytes in hexadecimal: two lower-case digits for each byte.
  static func text(of bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }, as: UTF8.self)
  }
}
