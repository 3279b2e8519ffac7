// Compares a response with the time of its request, so that a response from a cache is not used (RFC 9111 §4).

import EnrollCrypto
import EnrollRules

extension EngineContext {
  func hash(_ token: Secret) throws(EnrollError) -> String {
    do throws(CryptoError) {
      return Base64URL.encode(try Digest.sha256.hash(token.revealBytes()))
    } catch {
      throw EnrollError(error, "SHA-256 failed")
    }
  }

  /// Checks a response with tokens that no nonce binds to its request: the response to a device code, to a one-time
  /// code, or to the artefact of another app.
  /// - Throws: `.responseInvalid` for a response that was certainly made before its request: such tokens may belong to
  ///   another user.
  func requireOwn(_ http: HTTPResponse) throws(EnrollError) {
    guard let seconds = secondsBefore(http, tolerating: ServerClock.toleranceSeconds) else { return }
    throw EnrollError(
      .responseInvalid,
      "the answer with the tokens comes out of a cache (its Date is \(seconds) s before the request), which must not answer a POST (RFC 9111 §4)",
      httpStatus: http.status)
  }

  /// How many seconds a response is older than its request, by the `Date` of the server's responses and documents. A
  /// document from a cache has a date that is too early, never too late. nil if nothing shows that the response is
  /// older than its request.
  func secondsBefore(_ http: HTTPResponse, tolerating tolerance: Int64) -> Int64? {
    let told = [provider.serverTime, provider.documentTime].compactMap { $0 }.max()
    guard let told, let date = http.header("Date").flatMap({ HTTPDate.parse($0) }) else { return nil }
    let seconds = told.since(date)
    return seconds > tolerance ? seconds : nil
  }

  /// The server's time minus this machine's time, from the `Date` header.
  func clockOffset(of response: HTTPResponse, at sent: Moment) -> Int64? {
    response.header("Date").flatMap(HTTPDate.parse)?.since(sent.wall)
  }
}
