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
    let end = rest.upperBound
    let query = bytes.extracting(0..<end)
    var start = rest.lowerBound
    while start < end, query[start] == 0x26 { start += 1 }
    guard start < end else { return nil }
    var index = Self.separator(in: query, from: start)
    name = start..<index
    if index < end, query[index] == 0x3D { index += 1 }
    start = index
    while index < end {
      if let eight = EightBytes(of: query, at: index) {
        let separators = eight.places(of: 0x26)
        // Those before the separator.
        let encoded = (eight.places(of: 0x25) | eight.places(of: 0x2B)) & (separators &- 1) & ~separators
        isEncoded = isEncoded || encoded != 0
        index += separators == 0 ? 8 : EightBytes.first(separators)
        if separators != 0 { break }
      } else {
        if query[index] == 0x26 { break }
        if query[index] == 0x25 || query[index] == 0x2B { isEncoded = true }
        index += 1
      }
    }
    value = start..<index
    rest = index..<end
  }

  /// Where a name ends: at `=`, at `&` or with the query.
  @inline(__always)
  private static func separator(in query: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < query.count {
      if let eight = EightBytes(of: query, at: index) {
        let separators = eight.places(of: 0x26) | eight.places(of: 0x3D)
        if separators != 0 { return index + EightBytes.first(separators) }
        index += 8
      } else {
        if query[index] == 0x26 || query[index] == 0x3D { return index }
        index += 1
      }
    }
    return index
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
