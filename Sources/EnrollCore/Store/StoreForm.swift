// How a document that an older program wrote becomes one of today: step by step, each from one form to the next. A form that
// changes raises the document's version, and leaves the step from the form before it here.

public import EnrollJSON

/// The steps from the oldest form that is still read to the newest.
public struct DocumentUpgrades: Sendable {
  /// Makes the next form of a document. The version is looked after elsewhere.
  /// - Returns: nil for what is no document of the older form.
  public typealias Step = @Sendable (JSONObject) -> JSONObject?

  /// The last one gives the newest form.
  public var steps: [Step]

  public init(_ steps: [Step]) { self.steps = steps }

  /// Of documents whose first form is today's.
  public static let none = DocumentUpgrades([])
  /// Of accounts: version 1 is the first.
  public static let accounts = none
}
