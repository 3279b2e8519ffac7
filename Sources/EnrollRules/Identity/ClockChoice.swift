// The clocks by which the times of an id_token are checked (R25, R26).

/// The clocks that may show the server's time, in the order in which they are tried.
package struct ClockChoice {
  package private(set) var all: [(name: String, offsetSeconds: Int64)] = []

  /// Collects the offsets of the server's clock that are known.
  /// - Parameter issued: the offset according to the id_token's `iat`, if the response has no `Date`.
  package init(answered: Int64?, known: Int64?, issued: Int64? = nil) {
    add("the answer's Date", answered)
    add("the clock that was learned before", known)
    add("this machine's clock", 0)
    add("the id_token's iat", issued)
  }

  private mutating func add(_ name: String, _ offsetSeconds: Int64?) {
    guard let offsetSeconds else { return }
    if let same = all.firstIndex(where: { $0.offsetSeconds == offsetSeconds }) {
      all[same].name += " and " + name
    } else {
      all.append((name, offsetSeconds))
    }
  }
}
