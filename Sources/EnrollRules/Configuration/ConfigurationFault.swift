// A fault of a configuration, before it becomes an error text: the key at fault, and a text in which the names of
// keys are marked. They are marked because each interface spells keys in its own way (ConfigurationSpelling).

/// What is wrong with a configuration.
struct ConfigurationFault: Error, ExpressibleByStringInterpolation {
  /// A part of the text.
  fileprivate enum Part {
    case words(String)
    case key(String)
  }

  /// The path of the value at fault, in the names of the table: `app2app.allowedLinks[0]`. A check of one key's value
  /// leaves out that key; ``inside(_:)`` adds it.
  private var path = ""
  private let parts: [Part]

  @inline(never)
  init(stringLiteral words: String) { parts = [.words(words)] }

  init(stringInterpolation text: Text) { parts = text.parts }

  /// The text of a fault, which may name keys: `"it needs \(key: "clientSecret")"`.
  struct Text: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    @inline(never)
    mutating func appendLiteral(_ words: String) { parts.append(.words(words)) }
    @inline(never)
    mutating func appendInterpolation(_ words: String) { parts.append(.words(words)) }
    mutating func appendInterpolation(_ number: Int) { parts.append(.words("\(number)")) }
    mutating func appendInterpolation(_ number: Int64) { parts.append(.words("\(number)")) }
    /// - Parameter key: the name of a key in the table; with its path, if it is a key of an object.
    @inline(never)
    mutating func appendInterpolation(key: String) { parts.append(.key(key)) }
  }

  /// This fault with `name` put before its path: the value at fault is inside the key `name`.
  @inline(never)
  func inside(_ name: String) -> ConfigurationFault {
    var fault = self
    let isAlone = path.utf8.isEmpty || path.utf8.first == UInt8(ascii: "[")
    fault.path = isAlone ? name + path : "\(name).\(path)"
    return fault
  }

  /// The text without the key at fault.
  func text(_ spelling: ConfigurationSpelling) -> String {
    parts.reduce(into: "") { text, part in
      switch part {
      case .words(let words): text += words
      case .key(let key):
        let (path, dot) = (spelling.spelt(key).utf8, UInt8(ascii: "."))
        // Shows only the last part of a path, because the key at fault already names the object.
        let shown = key.utf8.contains(dot) ? path.split(separator: dot).last ?? path[...] : path[...]
        text += String(decoding: shown, as: UTF8.self)
      }
    }
  }

  /// The error, with the keys in the spelling of one interface.
  @inline(never)
  func error(_ spelling: ConfigurationSpelling) -> EnrollError {
    let field = spelling.spelt(path)
    return EnrollError(.configuration, "\(field): \(text(spelling))", field: field)
  }
}
