// Adding our query to an endpoint that may have one of its own, which is kept (RFC 6749 §3.1).

enum EndpointURL {
  static func adding(_ query: FormEncoding, to endpoint: String) -> String {
    let hasQuery = endpoint.utf8.contains(0x3F)
    let last = endpoint.utf8.last
    let separator = !hasQuery ? "?" : last == 0x3F || last == 0x26 ? "" : "&"
    return endpoint + separator + query.text
  }

  /// The parameter names in the endpoint's own query.
  static func queryNames(of endpoint: String) -> [String] {
    let bytes = Array(endpoint.utf8)
    guard let mark = bytes.firstIndex(of: 0x3F) else { return [] }
    return QueryParameter.names(of: bytes, (mark + 1)..<bytes.count)
  }
}
