// Patterns for the names of tools, like a shell's patterns for file names: `*` for any characters, `?` for one.

/// A pattern for names. Case matters.
package struct NamePattern: Equatable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package func matches(_ name: String) -> Bool {
    let pattern = Array(text.unicodeScalars)
    let name = Array(name.unicodeScalars)
    var (place, index) = (0, 0)
    // The position of the last `*` in the pattern, and of the first character of the name after its match.
    var (star, rest) = (-1, 0)
    while index < name.count {
      if place < pattern.count, pattern[place] == "*" {
        (star, rest) = (place, index)
        place += 1
      } else if place < pattern.count, pattern[place] == "?" || pattern[place] == name[index] {
        place += 1
        index += 1
      } else if star >= 0 {
        rest += 1
        (place, index) = (star + 1, rest)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == "*" }
  }
}
