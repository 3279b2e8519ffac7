// A provider's documents, kept beside the records: its discovery document and its keys, as received. A new process uses
// them without a request for as long as their headers allow (RFC 9111), and beyond that while the provider is
// unreachable. Readers check them as if they had just been received from the network.

package import EnrollCrypto
package import EnrollJSON

/// A provider, and how it is trusted: what came in one trust is never used in another.
public struct ProviderName: Equatable, Hashable, Sendable {
  /// The issuer, a line feed, and the transport's ``Transport/trust``.
  public let text: String

  /// - Parameters:
  ///   - issuer: as it is configured.
  ///   - trust: what the provider's certificate is held against.
  public init(issuer: Issuer, trust: String) { text = issuer.text + "\n" + trust }
}

/// A document as it came.
public struct KeptDocument: Equatable, Sendable {
  /// A longer one is not kept.
  public static let bodyLimit = 256 << 10

  /// Where it came from.
  public var url: String
  /// The document, as it came.
  public var body: [UInt8]
  /// Its ETag.
  public var tag: String?
  /// How long its headers let it be used unasked; nothing for `no-store` and `no-cache`.
  public var freshness: Expiry
  /// After a failure: when the provider may be asked for it again.
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
  /// When it came, by the clock of this boot; long ago where another boot fetched it.
  func fetched(at moment: Moment) -> Instant {
    guard freshness.bootID == moment.bootID else { return Instant(nanoseconds: .min) }
    return freshness.deadline.advanced(bySeconds: -freshness.lifetimeSeconds)
  }

  /// As it would have come just now.
  var response: HTTPResponse { HTTPResponse(status: 200, body: body) }
}

extension KeptDocument? {
  /// Records the response to `request`: 200, or 304 for the kept document.
  mutating func note(_ response: HTTPResponse, to request: HTTPRequest, at moment: Moment) {
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
  /// Its JWK Set (RFC 7517).
  public var keys: KeptDocument?

  public init(metadata: KeptDocument? = nil, keys: KeptDocument? = nil) {
    self.metadata = metadata
    self.keys = keys
  }
}

extension Expiry {
  /// Its end by the clock of this boot, where nothing speaks against it: both clocks say that it is not over, and neither
  /// that more is left than there ever was. A date that was set, or another boot, ends it.
  func certainEnd(at moment: Moment) -> Instant? {
    guard moment.bootID == bootID else { return nil }
    let life = lifetimeSeconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (left, leftByDate) = (deadline.since(moment.instant), expiresAt.since(moment.wall))
    guard !life.overflow, left > 0, left <= life.partialValue, leftByDate > 0, leftByDate <= lifetimeSeconds
    else { return nil }
    return deadline
  }
}

// MARK: On disk

extension ProviderDocuments {
  package static let form = StoreForm<JSONObject>("provider", newest: 1)

  /// - Returns: UTF-8 text that ``init(decoding:of:as:)`` reads.
  package func encoded(of provider: ProviderName, as form: StoreForm<JSONObject> = form) -> Secret {
    StoreText.secret(
      .object([
        ("version", .integer(form.newest)), ("provider", .string(provider.text)),
        ("metadata", metadata?.json),
        ("keys", keys?.json),
      ]))
  }

  /// - Throws: as ``AccountDocument/init(decoding:as:)``; `.storeCorrupt` as well for those of another provider.
  package init(
    decoding text: Secret, of provider: ProviderName? = nil, as form: StoreForm<JSONObject> = form
  ) throws(EnrollError) {
    let (object, _) = try StoreText.document(try StoreText.parse(text, form.name), form)
    let name = object.string("provider")
    try object.check()
    if let provider, !ASCII.equals(name, provider.text) {
      throw EnrollError(.storeCorrupt, "provider: of another provider", field: "provider")
    }
    metadata = try object.optional("metadata").map { json throws(EnrollError) in
      try KeptDocument(json: json, "provider.metadata")
    }
    keys = try object.optional("keys").map { json throws(EnrollError) in
      try KeptDocument(json: json, "provider.keys")
    }
    try object.end()
  }
}

extension KeptDocument {
  var json: JSON {
    .object([
      ("url", .string(url)), ("body", .string(String(decoding: body, as: UTF8.self))),
      ("tag", tag.map { .string($0) }), ("freshness", freshness.json), ("pause", pause?.json),
    ])
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    url = object.string("url")
    body = Array(object.string("body").utf8)
    tag = object.optionalString("tag")
    freshness = object.expiry("freshness")
    pause = object.optionalExpiry("pause")
    try object.end()
  }
}
