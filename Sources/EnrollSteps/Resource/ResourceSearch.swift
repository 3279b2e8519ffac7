// Finds a resource's metadata (RFC 9728 §3, §5.1), and checks that the metadata describes this resource (R42).

import EnrollJSON
import EnrollRules

/// Searches for the metadata of one resource.
struct ResourceSearch {
  private let resource: ResourceIdentifier
  private let allowsLoopbackHTTP: Bool
  /// The error for metadata that describes another resource. The search throws it only if it finds no metadata of this
  /// resource.
  private var refusal: EnrollError?
  /// The challenge that the host passed, or that the resource returned during this search; nil if there is no
  /// challenge yet.
  private(set) var challenge: ResourceChallenge?
  /// Whether the resource requires a token.
  private(set) var wantsToken: Bool

  private static let name = ProtectedResourceMetadata.wellKnownName

  /// - Parameter challenge: the challenge that the host passed.
  init(_ resource: ResourceIdentifier, challenge: ResourceChallenge?, allowsLoopbackHTTP: Bool) {
    self.resource = resource
    self.challenge = challenge
    self.allowsLoopbackHTTP = allowsLoopbackHTTP
    wantsToken = challenge != nil
  }

  /// Requests the metadata in this order: the URL of the host's challenge, the resource's own well-known URL, the
  /// well-known URL of the resource's host, and the URL in the challenge that the resource returns during this search.
  /// - Returns: nil for a resource without metadata.
  /// - Throws: an error if the metadata describes another resource or cannot be used.
  mutating func metadata(
    _ documents: inout PublicDocuments
  ) throws(EnrollError) -> (ProtectedResourceMetadata, location: String)? {
    let root = WellKnown.atOrigin(Self.name, of: resource.url)
    var places = [WellKnown.inserting(Self.name, into: resource.url), root]
    if let named = try challenge?.location(at: resource) { places.insert(named, at: 0) }
    var asked: [String] = []
    for place in places where !asked.contains(where: { ASCII.equals($0, place) }) {
      asked.append(place)
      if let found = try read(place, isOfHost: ASCII.equals(place, root), &documents) { return found }
    }
    if challenge == nil {
      try provoke(&documents)
      if let named = try challenge?.location(at: resource),
        !asked.contains(where: { ASCII.equals($0, named) }),
        let found = try read(named, isOfHost: false, &documents)
      {
        return found
      }
    }
    if let refusal { throw refusal }
    return nil
  }

  /// - Parameter isOfHost: whether the URL is for the metadata of the whole host. Only such metadata may name the host
  ///   instead of this resource.
  private mutating func read(
    _ place: String, isOfHost: Bool, _ documents: inout PublicDocuments
  ) throws(EnrollError) -> (ProtectedResourceMetadata, location: String)? {
    guard let found = try documents.document(at: place) else { return nil }
    let document = try ResourceDocument(found.body, "the metadata of the resource at \(Shown.url(place))")
    guard let named = document["resource"]?.string else {
      throw document.wrong("resource", "expected a string")
    }
    let isHost = resource.isAtHost(named)
    guard ASCII.equals(named, resource.text) || isOfHost && isHost else {
      let error = document.wrong(
        "resource",
        "it is about \(Shown.url(named)), and \(Shown.url(resource.text)) was asked for (RFC 9728 §3.3). "
          + "If that is the resource you mean, ask for it")
      // A host may have several resources, and a server may return the host's metadata at every URL. Such metadata
      // counts only at the host's own URL.
      guard isOfHost || isHost else { throw error }
      refusal = refusal ?? error
      return nil
    }
    let metadata = try ProtectedResourceMetadata(
      document, resource: named, allowsLoopbackHTTP: allowsLoopbackHTTP)
    return (metadata, place)
  }

  /// Sends requests without a token, and reads the challenge of a 401. The requests are a GET, and a POST as clients of
  /// the Model Context Protocol send it, because servers of this protocol may accept only POST.
  private mutating func provoke(_ documents: inout PublicDocuments) throws(EnrollError) {
    for isRead in [true, false] {
      let response = isRead ? try documents.get(resource.text) : try documents.ping(resource.text)
      guard response.status == 401 else {
        documents.note(
          "the resource itself answered \(response.status) to a \(isRead ? "GET" : "POST") without a token, not 401"
        )
        continue
      }
      wantsToken = true
      let met = try ResourceChallenge(response)
      if challenge?.metadataURI == nil { challenge = met }
      guard met.metadataURI == nil else { return }
      documents.note("its 401 to a \(isRead ? "GET" : "POST") has no resource_metadata")
    }
  }
}
