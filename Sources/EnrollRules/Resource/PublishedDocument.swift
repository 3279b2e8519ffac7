// A document of a resource or a server, as it was published.

/// A document as it was published.
package struct PublishedDocument: Equatable, Sendable {
  package var url: String
  package var body: [UInt8]
  /// The number of seconds for which the document may be used without another request.
  package var freshSeconds: Int64

  package init(url: String, body: [UInt8], freshSeconds: Int64) {
    self.url = url
    self.body = body
    self.freshSeconds = freshSeconds
  }
}
