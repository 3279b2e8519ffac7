// Everything that the store keeps says in which form it was written: the documents of accounts, the outbox and the
// installation id, the `keys` file, and the sealing around the first three. A program writes the newest form that it knows.
// A file in an older form is upgraded while it is read, step by step, each step from one form to the next. The next save,
// which replaces the whole file, writes the new form. A file in a newer form is refused and left as it is.
//
// To change a form, raise its number and add the step from the previous form here.

/// One kind of thing that the store keeps, and how an older one becomes one of today.
package struct StoreForm<Content>: Sendable {
  /// Makes the next form of a thing. Its number is looked after elsewhere.
  /// - Returns: nil for what is nothing of the older form. Not thrown, because the compiler of Swift 6.3 crashes on generic
  ///   closures with typed throws.
  package typealias Step = @Sendable (Content) -> Result<Content?, EnrollError>

  /// In error messages: `outbox`.
  package let name: String
  /// The number of the form that is written.
  package let newest: Int64
  /// From the oldest form that is still read; the last one gives the newest.
  private let steps: [Step]

  package init(_ name: String, newest: Int64, _ steps: [Step] = []) {
    self.name = name
    self.newest = newest
    self.steps = steps
  }

  /// The thing in its newest form.
  /// - Throws: `.storeVersion` for one that a newer program wrote, `.storeCorrupt` for a form that never was, and what
  ///   steps fail with.
  package func upgraded(_ content: Content, from version: Int64) throws(EnrollError) -> Content {
    guard version <= newest else {
      throw EnrollError(
        .storeVersion,
        "\(name): written in form \(version), this program knows up to \(newest); it was left as it is",
        field: name)
    }
    let oldest = newest - Int64(steps.count)
    guard version >= oldest else {
      throw EnrollError(.storeCorrupt, "\(name): no form has the number \(version)", field: name)
    }
    var content = content
    for step in steps[Int(version - oldest)...] {
      guard let next = try step(content).get() else {
        throw EnrollError(.storeCorrupt, "\(name): not of the form \(version) that it says", field: name)
      }
      content = next
    }
    return content
  }
}
