// Requests whose body is one JSON object, as the gateway of flows.md §9 and the back end of flows.md §10 take them.

import EnrollCrypto
import EnrollJSON

extension HTTPRequest {
  /// A POST of `body`.
  /// - Parameters:
  ///   - secrets: those in `body`.
  ///   - freshConnection: for what must reach the server at most once (R15).
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
