// A query as pieces of the text it stands in: nothing is copied until a value is asked for.

/// The next `name=value` pair of a query that ``StrictURL`` has read. Empty pairs are skipped.
struct QueryParameter {
  var name: Range<Int>
  /// Without the equals sign; empty when there was none.
  var value: Range<Int>

  /// - Parameter rest: what is left of the query; shortened by what is read. nil comes back at its end.
  init?(takenFrom rest: inout Range<Int>, of bytes: Span<UInt8>) {
    var start = rest.lowerBound
    while start < rest.upperBound, bytes[start] == 0x26 { start += 1 }
    guard start < rest.upperBound else { return nil }
    var index = start
    while index < rest.upperBound, bytes[index] != 0x26, bytes[index] != 0x3D { index += 1 }
    name = start..<index
    if index < rest.upperBound, bytes[index] == 0x3D { index += 1 }
    let valueStart = index
    while index < rest.upperBound, bytes[index] != 0x26 { index += 1 }
    value = valueStart..<index
    rest = index..<rest.upperBound
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
