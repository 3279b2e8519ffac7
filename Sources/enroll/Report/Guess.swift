// Guesses the word that a misspelt one stands for.

import ArgumentParser
import EnrollCore

enum Guess {
  /// The nearest of `words`, if one is near enough; nil for a word that is one of them.
  static func nearest(to word: String, among words: [String]) -> String? {
    guard !words.contains(word) else { return nil }
    let near = words.map { (word: $0, distance: EditDistance.between(word, $0)) }
      .filter { $0.distance <= max(2, $0.word.utf8.count / 3) }
    return near.min { $0.distance < $1.distance }?.word
  }

  /// Of commands: what the parser calls an unexpected argument.
  static func command(_ arguments: [String]) -> String? {
    let names = Enroll.configuration.subcommands.map { $0._commandName } + ["help"]
    guard let first = arguments.first, !first.hasPrefix("-") else { return nil }
    return nearest(to: first, among: names)
  }
}
