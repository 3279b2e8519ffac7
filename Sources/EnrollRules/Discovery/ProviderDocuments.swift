// A provider's documents, stored next to the records: its discovery document and its keys, as received. A new process
// uses these documents without a request for as long as their headers allow (RFC 9111). If the provider is unreachable,
// it uses them even longer. Readers check them as if they had just been received from the network.

/// Identifies a provider together with the trust settings for it: a document that was fetched with one set of trust
/// settings is never used with another.
public struct ProviderName: Equatable, Hashable, Sendable {
  /// The issuer, a line feed, and the transport's ``Transport/trust``.
  public let text: String

  /// - Parameters:
  ///   - issuer: as configured.
  ///   - trust: the certificates against which the provider's certificate is verified.
  public init(issuer: Issuer, trust: String) { text = issuer.text + "\n" + trust }
}

/// A document as it was received.
public struct KeptDocument: Equatable, Sendable {
  /// The maximum size of a document that is stored, in bytes.
  public static let bodyLimit = 256 << 10

  /// The document's URL.
  public var url: String
  /// The body of the response, as it was received.
  public var body: [UInt8]
  /// The document's ETag.
  public var tag: String?
  /// How long the response's headers allow the document to be used without a request; zero for `no-store` and
  /// `no-cache`.
  public var freshness: Expiry
  /// The pause after a failed request. The document is not requested again before the pause ends.
  public var pause: Expiry?

  public init(url: String, body: [UInt8], tag: String?, freshness: Expiry, pause: Expiry? = nil) {
    self.url = url
    self.body = body
    self.tag = tag
    self.freshness = freshness
    self.pause = pause
  }
}

extension KeptDocument {
  /// The instant at which the document was fetched, by the clock of this boot; the earliest instant if it was fetched
  /// in another boot.
  func fetched(at moment: Moment) -> Instant {
    guard freshness.bootID == moment.bootID else { return Instant(nanoseconds: .min) }
    return freshness.deadline.advanced(bySeconds: -freshness.lifetimeSeconds)
  }

  /// The document as a response.
  package var response: HTTPResponse { HTTPResponse(status: 200, body: body) }
}

extension KeptDocument? {
  /// Records the response to `request`. The status of the response is 200, or 304 if the kept document is still
  /// current.
  package mutating func note(_ response: HTTPResponse, to request: HTTPRequest, at moment: Moment) {
    let freshness = Expiry(lifetimeSeconds: CacheControl.keptSeconds(of: response), from: moment)
    let tag = response.header("ETag")
    guard response.status == 304 else {
      self = KeptDocument(url: request.url, body: response.body, tag: tag, freshness: freshness)
      if response.body.count > KeptDocument.bodyLimit { self = nil }
      return
    }
    guard let kept = self, let asked = request.headers.value(of: "If-None-Match"),
      kept.tag.map({ ASCII.equals($0, asked) }) ?? false,
      ASCII.equals(kept.url, request.url)
    else { return }
    self = KeptDocument(url: kept.url, body: kept.body, tag: tag ?? kept.tag, freshness: freshness)
  }
}

/// The kept documents of one provider.
public struct ProviderDocuments: Equatable, Sendable {
  /// The provider's metadata (OpenID Connect Discovery, RFC 8414).
  public var metadata: KeptDocument?
  /// The provider's JWK Set (RFC 7517).
  public var keys: KeptDocument?

  public init(metadata: KeptDocument? = nil, keys: KeptDocument? = nil) {
    self.metadata = metadata
    self.keys = keys
  }
}
