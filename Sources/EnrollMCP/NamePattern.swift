// Patterns for the names of tools, like a shell's patterns for file names: `*` for any characters, `?` for one.

/// A pattern for names. Case matters.
package struct NamePattern: Equatable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  package func matches(_ name: String) -> Bool {
    let pattern = Array(text.unicodeScalars)
    let name = Array(name.unicodeScalars)
    var (position, index) = (0, 0)
    // `star` is the position of the last `*` in the pattern. `rest` is the position in the name of the first character
    // after the text that this `*` matches.
    var (star, rest) = (-1, 0)
    while index < name.count {
      if position < pattern.count, pattern[position] == "*" {
        (star, rest) = (position, index)
        position += 1
      } else if position < pattern.count, pattern[position] == "?" || pattern[position] == name[index] {
        position += 1
        index += 1
      } else if star >= 0 {
        rest += 1
        (position, index) = (star + 1, rest)
      } else {
        return false
      }
    }
    return pattern[position...].allSatisfy { $0 == "*" }
  }
}
