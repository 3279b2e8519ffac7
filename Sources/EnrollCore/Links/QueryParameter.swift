// A query as pieces of the text it stands in, where nothing is copied until a value is asked for; and the query of an
// endpoint.

/// The next `name=value` pair of a query that ``StrictURL`` has read. Empty pairs are skipped.
struct QueryParameter {
  var name: Range<Int>
  /// Without the equals sign; empty when there was none.
  var value: Range<Int>
  /// The value has `%` or `+`: it stands for other bytes than its own.
  var isEncoded = false

  /// - Parameter rest: what is left of the query; shortened by what is read. nil comes back at its end.
  @_optimize(speed)
  init?(takenFrom rest: inout Range<Int>, of bytes: Span<UInt8>) {
    let query = bytes.extracting(rest)
    let offset = rest.lowerBound
    var start = 0
    while start < query.count, query[start] == 0x26 { start += 1 }
    guard start < query.count else { return nil }
    var index = start
    while index < query.count, query[index] != 0x26, query[index] != 0x3D { index += 1 }
    name = (offset + start)..<(offset + index)
    if index < query.count, query[index] == 0x3D { index += 1 }
    start = index
    while index < query.count, query[index] != 0x26 {
      if query[index] == 0x25 || query[index] == 0x2B { isEncoded = true }
      index += 1
    }
    value = (offset + start)..<(offset + index)
    rest = (offset + index)..<rest.upperBound
  }

  /// The names in a query, decoded; one that is not UTF-8 is left out.
  static func names(of bytes: [UInt8], _ query: Range<Int>) -> [String] {
    var names: [String] = []
    var rest = query
    while let parameter = QueryParameter(takenFrom: &rest, of: bytes.span) {
      if let name = PercentEncoding.decode(bytes[parameter.name], plusForSpace: true),
        let text = String(validating: name, as: UTF8.self)
      {
        names.append(text)
      }
    }
    return names
  }
}

/// Adds our query to an endpoint that may have one of its own, which is kept (RFC 6749 §3.1).
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
