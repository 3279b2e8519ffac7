// Requests whose body is one JSON object, as gateways and back ends of the documents' own making take them.

import EnrollJSON

extension HTTPRequest {
  /// A POST of `body`.
  /// - Parameter freshConnection: for what must reach the server at most once (R15).
  static func post(_ body: JSON, to url: String, freshConnection: Bool = false) -> HTTPRequest {
    HTTPRequest(
      .post, url,
      headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Accept", "application/json")],
      body: body.serialized(), freshConnection: freshConnection)
  }
}
