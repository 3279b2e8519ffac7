// All content of the store says in which form it is written. A form is the version of a format, and is identified by a
// number. There are forms for the documents of accounts, the outbox and the installation id, for the `keys` file, and
// for the sealing of the first three. A program writes the newest form that it knows. It upgrades a file in an older
// form while it reads the file, step by step, each step from one form to the next. The next save, which replaces the
// whole file, writes the new form. A file in a newer form is refused and left as it is.
//
// To change a form, raise its number and add the step from the previous form here.

/// The forms (format versions) of one kind of content in the store, with the steps from older forms to the
/// newest form.
package struct StoreForm<Content>: Sendable {
  /// Upgrades content to the next form. The step does not change the form's number.
  /// - Returns: nil if the content is not of the older form. The type is a `Result`, because the compiler of Swift 6.3
  ///   crashes on generic closures with typed throws.
  package typealias Step = @Sendable (Content) -> Result<Content?, EnrollError>

  /// The name in error messages, such as `outbox`.
  package let name: String
  /// The number of the form that is written.
  package let newest: Int64
  /// The steps in the order of the forms: the first step upgrades the oldest form that can be read, and the last step
  /// results in the newest form.
  private let steps: [Step]

  package init(_ name: String, newest: Int64, _ steps: [Step] = []) {
    self.name = name
    self.newest = newest
    self.steps = steps
  }

  /// The content in its newest form.
  /// - Throws: `.storeVersion` if a newer program wrote it, `.storeCorrupt` for a form that never existed, and the
  ///   errors of the steps.
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
