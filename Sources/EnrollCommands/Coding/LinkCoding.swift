// The outcome of a link as JSON: the member `kind` distinguishes the possible objects, here and in `url.handle`.

import EnrollRules
import EnrollJSON

extension HandledLink {
  static let schema = Schema(.anyOf(begun + refused), "The outcome of a link.").named("HandledLink")

  static let begun = [
    Schema.object(
      [.required("kind", .word("begun"))] + Transaction.members,
      "The link began a transaction: do what the action says.")
  ]

  static let refused = LinkRefusal.Reason.allCases.map { reason in
    Schema.object(
      [
        .required("kind", .word(reason.kind)),
        Schema.Property(
          "offers",
          Schema(.list(offer, maximumCount: 8), "What the host can offer the user, the best first."),
          // If no transaction waits for the redirect, there is nothing to offer the user.
          isRequired: reason != .unsolicited),
      ], reason.summary
    ).named(reason.typeName)
  }

  private static let offer = Schema.words(
    "LinkOffer", LinkOffer.allCases.map { $0.rawValue },
    "A transaction that the host may offer to a user whose link had no effect.")

  var json: JSON {
    switch self {
    case .begun(let begun): begun.taggedJSON
    case .refused(let refusal): refusal.json
    }
  }
}

extension Transaction {
  var taggedJSON: JSON {
    var members = object
    members["kind"] = .string("begun")
    return .object(members)
  }
}

extension LinkRefusal {
  var json: JSON {
    .object([
      ("kind", .string(reason.kind)), ("offers", .array(offers.map { .string($0.rawValue) })),
    ])
  }
}

extension LinkRefusal.Reason {
  var kind: String {
    switch self {
    case .unsolicited: "unsolicited"
    case .used: "linkUsed"
    case .expired: "linkExpired"
    }
  }

  var typeName: String {
    switch self {
    case .unsolicited: "Unsolicited"
    case .used: "LinkUsed"
    case .expired: "LinkExpired"
    }
  }

  var summary: String {
    switch self {
    case .unsolicited: "No transaction waits for the URL; nothing happened."
    case .used: "This link, or a fallback link, was used before; nothing happened."
    case .expired: "The transaction that waited for the link has expired; nothing happened."
    }
  }
}
