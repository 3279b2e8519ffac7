// Requests with one JSON object as the body, for the gateway of flows.md §9 and the back end of flows.md §10.

import EnrollCrypto
import EnrollJSON

extension HTTPRequest {
  /// A POST with `body`.
  /// - Parameters:
  ///   - secrets: the secrets in `body`.
  ///   - freshConnection: for a request that must reach the server at most once (R15).
  static func post(
    _ body: JSON, holding secrets: [Secret] = [], to url: String, freshConnection: Bool = false
  ) -> HTTPRequest {
    var request = HTTPRequest(
      .post, url,
      headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Accept", "application/json")],
      body: body.serialized(), freshConnection: freshConnection)
    request.secrets = secrets
    return request
  }
}
