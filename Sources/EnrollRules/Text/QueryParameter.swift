// Reads the parameters of a query as ranges of its text, so that a value is copied only when it is needed. Also adds a
// query to the URL of an endpoint.

/// The next `name=value` pair of a query that ``StrictURL`` has parsed. Empty pairs are skipped.
struct QueryParameter {
  var name: Range<Int>
  /// The value, without the equals sign; empty if there is no equals sign.
  var value: Range<Int>
  /// Whether the value contains `%` or `+`, so that it must be decoded.
  var isEncoded = false

  /// - Parameter rest: the rest of the query; the pair is removed from it. The initializer returns nil at the end.
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
        // Only a `%` or `+` before the separator belongs to this value.
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

  /// The index of the `=` or `&` that ends the name; the end of the query if there is neither.
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

  /// The decoded names in a query; a name that is not UTF-8 is left out.
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

/// Adds a query to an endpoint, and keeps the query that the endpoint has (RFC 6749 §3.1). If both queries have the
/// same parameter, only EnrollKit's value is sent, because no parameter may be repeated.
enum EndpointURL {
  static func adding(_ query: FormEncoding, to endpoint: String) -> String {
    let bytes = Array(endpoint.utf8)
    guard let mark = bytes.firstIndex(of: 0x3F) else { return endpoint + "?" + query.text }
    let ours = QueryParameter.names(of: query.bytes, 0..<query.bytes.count)
    var url = Array(bytes[...mark])
    var rest = (mark + 1)..<bytes.count
    while let parameter = QueryParameter(takenFrom: &rest, of: bytes.span) {
      guard !isNamed(bytes[parameter.name], among: ours) else { continue }
      url += bytes[parameter.name.lowerBound..<parameter.value.upperBound]
      url.append(0x26)
    }
    return String(decoding: url + query.bytes, as: UTF8.self)
  }

  private static func isNamed(_ name: ArraySlice<UInt8>, among names: [String]) -> Bool {
    guard let name = PercentEncoding.decode(name, plusForSpace: true) else { return false }
    return names.contains { $0.utf8.elementsEqual(name) }
  }
}
