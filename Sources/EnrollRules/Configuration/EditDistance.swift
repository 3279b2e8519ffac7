// The edit distance between two words, for hints at misspelt words.

package enum EditDistance {
  /// The longest word that is compared, in bytes.
  private static let longest = 64

  /// The number of bytes to insert, remove or replace to turn one word into the other, without regard to case; `.max`
  /// if a word is too long.
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

  /// The end of an error text, with the similar word that was probably meant; empty if no word is similar
  /// enough.
  package static func hint(_ text: String, among words: [String]) -> String {
    var best: (word: String, distance: Int)?
    for word in words {
      let distance = between(text, word)
      if distance <= word.utf8.count / 3, distance < best?.distance ?? .max { best = (word, distance) }
    }
    return best.map { "; perhaps \($0.word) was meant" } ?? ""
  }

  /// The word in `words` that is most similar to a misspelt word; nil if no word is similar enough, or if `words`
  /// contains the word itself.
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
