// The key `limits` of the configuration.

import EnrollRules
import EnrollJSON

extension LimitRules {
  static let requestRange: ClosedRange<Int64> = 1...1_000_000
  static let secondRange: ClosedRange<Int64> = 1...86_400

  /// The members of `limits` with their descriptions. The metrics use the same names.
  static let members: [(name: String, kind: LimitKind, scope: LimitScope, about: String)] = [
    ("start", .start, .client, "Sign-ins begun by one client. 120 in 60 seconds by default."),
    ("callback", .callback, .client, "Provider callbacks from one client. 120 in 60 seconds by default."),
    ("redeem", .redeem, .client, "App codes redeemed by one client. 120 in 60 seconds by default."),
    ("mail", .mail, .client, "E-mails caused by one client. 20 in 3600 seconds by default."),
    ("mailPerPerson", .mail, .person, "E-mails to one address. 5 in 3600 seconds by default."),
    ("password", .password, .client, "Password attempts by one client. 30 in 600 seconds by default."),
    (
      "passwordPerPerson", .password, .person,
      "Password attempts for one account. 10 in 3600 seconds by default."
    ),
  ]

  /// The keys in `limits`.
  static var keys: [ConfigurationKey] {
    members.map { member in
      ConfigurationKey(
        member.name,
        .object([
          ConfigurationKey(
            "requests", .integer(requestRange), required: true, "The size of a burst."),
          ConfigurationKey(
            "seconds", .integer(secondRange), required: true, "The time in which the burst refills."),
        ]), member.about)
    }
  }

  /// Reads the limits.
  /// - Parameter json: the value of `limits`; its keys and types were checked with ``keys``.
  /// - Throws: `.configuration` for a number out of its range.
  init(json: JSON?) throws(EnrollError) {
    self.init()
    for member in Self.members {
      guard let told = json?[member.name] else { continue }
      self[member.kind, member.scope] = LimitRule(
        requests: try Self.number(told, "requests", Self.requestRange, member.name),
        seconds: try Self.number(told, "seconds", Self.secondRange, member.name))
    }
  }

  private static func number(
    _ json: JSON, _ key: String, _ range: ClosedRange<Int64>, _ member: String
  ) throws(EnrollError) -> Int64 {
    let field = "limits.\(member).\(key)"
    guard let number = json[key]?.integer, range.contains(number) else {
      throw EnrollError(
        .configuration, "\(field): expected \(range.lowerBound) to \(range.upperBound)", field: field)
    }
    return number
  }
}
