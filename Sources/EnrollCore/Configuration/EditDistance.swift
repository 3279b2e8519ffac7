// How far one word is from another, for the hint at a misspelt one.

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

  /// The end of an error text: the word that a misspelt one probably stands for; empty if none is near enough.
  package static func hint(_ text: String, among words: [String]) -> String {
    var best: (word: String, distance: Int)?
    for word in words {
      let distance = between(text, word)
      if distance <= word.utf8.count / 3, distance < best?.distance ?? .max { best = (word, distance) }
    }
    return best.map { "; perhaps \($0.word) was meant" } ?? ""
  }

  /// The nearest of `words` to a misspelt one, if one is near enough; nil for a word that is one of them.
  package static func nearest(to word: String, among words: [String]) -> String? {
    guard !words.contains(word) else { return nil }
    var best: (word: String, distance: Int)?
    for candidate in words {
      let distance = between(word, candidate)
      if distance <= max(2, candidate.utf8.count / 3), distance < best?.distance ?? .max {
        best = (candidate, distance)
      }
    }
    return best?.word
  }
}
