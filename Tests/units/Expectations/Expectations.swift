// Equality in tests, as functions. The compiler takes more than twice as long for `#expect(a == b)`, which it
// expands and checks twice, and the tests compare values in thousands of places. Comparisons other than
// equality use `#expect`.

import Foundation
public import Testing

/// Records an issue unless the value equals the expected value. The test continues.
public func expect<Value: Equatable>(
  _ value: Value, is expected: Value, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  if value == expected { return }
  record("\(shown(value)) is not \(shown(expected))", comment(), sourceLocation)
}

/// Records an issue if the value equals the other value. The test continues.
public func expect<Value: Equatable>(
  _ value: Value, isNot other: Value, _ comment: @autoclosure () -> Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  if value != other { return }
  record("the value is \(shown(value))", comment(), sourceLocation)
}

private func shown<Value>(_ value: Value) -> String {
  String(describingForTest: value)
}

/// Records an issue with the source text of the comparison. A macro would know that text; this function reads it from
/// the file when a test fails.
private func record(_ problem: String, _ comment: Comment?, _ place: SourceLocation) {
  var words = ["\(problem): \(statement(at: place))"]
  if let comment { words.append(comment.rawValue) }
  Issue.record(Comment(rawValue: words.joined(separator: "\n")), sourceLocation: place)
}

/// The call in one line; the location if there is no source file.
private func statement(at place: SourceLocation) -> String {
  guard let source = try? String(contentsOfFile: place.filePath, encoding: .utf8) else { return "\(place)" }
  var call = ""
  var depth = 0
  for line in source.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(place.line - 1) {
    let words = line.trimmingCharacters(in: .whitespaces)
    call += call.isEmpty ? words : " \(words)"
    for character in words {
      depth += character == "(" ? 1 : character == ")" ? -1 : 0
    }
    if depth <= 0 { break }
  }
  return call
}
