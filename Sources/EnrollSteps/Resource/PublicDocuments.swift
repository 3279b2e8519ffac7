// Fetches public documents of resources and servers before the user has agreed to use them. The requests have no token,
// no client id and nothing about the user (R42). Redirects are not followed (R20).

import EnrollRules

/// Fetches the documents, and remembers the URLs that have no document.
struct PublicDocuments {
  private let transport: any Transport
  private let cancellation: (any Cancellation)?
  /// For each URL that had no document, a description of what was there.
  private(set) var absences: [String] = []

  init(_ transport: any Transport, _ cancellation: (any Cancellation)?) {
    self.transport = transport
    self.cancellation = cancellation
  }

  /// The entries of ``absences`` as text that can be appended to a sentence.
  var found: String {
    absences.reduce("") { $0 + ($0.utf8.isEmpty ? "" : "; ") + $1 }
  }

  mutating func note(_ absence: String) { absences.append(absence) }

  /// The document at the URL; nil if the server refuses the request, redirects, or returns a page for people.
  /// - Throws: `.server` if the document may be available later.
  mutating func document(at location: String) throws(EnrollError) -> PublishedDocument? {
    let response = try get(location)
    let status = response.status
    if status == 200, !response.isPage {
      return PublishedDocument(
        url: location, body: response.body, freshSeconds: CacheControl.freshSeconds(of: response))
    }
    guard status != 408, status != 429, status < 500 else {
      throw EnrollError(
        .server,
        "expected metadata at \(Shown.url(location)), got status \(status)\(RetryAfter.words(of: response))",
        httpStatus: status, retryAfterSeconds: RetryAfter.seconds(of: response))
    }
    let answer =
      switch status {
      case 200: "a page"
      case 300..<400: "status \(status), and redirects are not followed"
      default: "status \(status)"
      }
    note("\(Shown.url(location)) answered \(answer)")
    return nil
  }

  func get(_ url: String) throws(EnrollError) -> HTTPResponse {
    try send(
      HTTPRequest(
        .get, url, headers: [HTTPHeader("Accept", "application/json")],
        responseLimit: ProtectedResourceMetadata.bodyLimit))
  }

  /// Sends a `ping` of the Model Context Protocol. This message changes nothing at the server.
  func ping(_ url: String) throws(EnrollError) -> HTTPResponse {
    try send(
      HTTPRequest(
        .post, url,
        headers: [
          HTTPHeader("Content-Type", "application/json"),
          HTTPHeader("Accept", "application/json, text/event-stream"),
        ], body: Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8),
        responseLimit: ProtectedResourceMetadata.bodyLimit))
  }

  private func send(_ request: HTTPRequest) throws(EnrollError) -> HTTPResponse {
    let response = try transport.send(request, cancellation: cancellation)
    guard response.body.count <= ProtectedResourceMetadata.bodyLimit else {
      throw EnrollError(
        .responseInvalid,
        "\(Shown.url(request.url)): expected at most \(ProtectedResourceMetadata.bodyLimit) bytes, got more",
        httpStatus: response.status)
    }
    return response
  }
}
