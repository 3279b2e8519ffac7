// How far one word is from another, for the hint at a misspelt key.

package enum EditDistance {
  /// Longer words are no misspellings.
  private static let longest = 64

  /// How many bytes to insert, remove or replace, letters of either case being the same; `.max` for words that are long.
  package static func between(_ one: String, _ other: String) -> Int {
    let one = one.utf8.map { ASCII.lowercased($0) }
    let other = other.utf8.map { ASCII.lowercased($0) }
    guard one.count <= longest, other.count <= longest else { return .max }
    var row = Array(0...other.count)
    for (index, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in 0..<other.count {
        let replaced = diagonal + (byte == other[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}
