// The table of docs/providers.md, generated from the expected cells and the facts.

import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("The page of the providers")
struct ProvidersPageTests {
  @Test("shows what the tests expect, and what that rests on", .enabled(if: !Table.isWritten))
  func page() throws {
    let (page, drawn) = try ProvidersPage().drawn()
    expect(page, is: drawn, "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }
}

/// docs/providers.md.
struct ProvidersPage {
  private static let file = Repository.top.appendingPathComponent("docs/providers.md")

  /// The page as it is, and the page as it is generated.
  func drawn() throws -> (String, String) {
    let page = try String(contentsOf: Self.file, encoding: .utf8)
    let start = try #require(page.range(of: "<!-- known providers -->\n"))
    let end = try #require(
      page.range(of: "<!-- end of known providers -->", range: start.upperBound..<page.endIndex))
    return (page, page.replacingCharacters(in: start.upperBound..<end.lowerBound, with: try drawing()))
  }

  func write() throws { try drawn().1.write(to: Self.file, atomically: true, encoding: .utf8) }

  private let titles: [(Column, String)] = [
    (.signIn, "sign-in"), (.bare, "bare defaults"), (.profile, "profile"), (.renewal, "renewal"),
    (.logout, "logout"), (.device, "device"), (.requests, "requests"),
  ]

  private func drawing() throws -> String {
    let entries = try KnownProviders.all()
    let rows = try Table.read()
    var text = """

      | provider | \(titles.map(\.1).joined(separator: " | ")) | facts |
      | --- |\(String(repeating: " --- |", count: titles.count + 1))

      """
    for entry in entries {
      let row = rows[entry.id] ?? Row()
      let cells = titles.map { column, _ in
        (row.cells[column] ?? "")
          + (Self.basis(of: column, entry).map { row.cells[column] == nil ? "" : " (\($0.letter))" } ?? "")
      }
      let facts = KnownProvider.Fact.Kind.allCases.map { "\(entry.count($0))" }.joined(separator: " / ")
      text += "| \(entry.name) | \(cells.joined(separator: " | ")) | \(facts) |\n"
    }
    return text + legend + basis(entries) + advice(entries, rows)
  }

  private let legend = """

    - *sign-in*: with the configuration that the provider needs.
    - *bare defaults*: a first attempt with only issuer, client id and redirect URI.
    - *profile*: the user's name and e-mail address after the sign-in.
    - *renewal*: three renewals in a row; the response to the second is lost. A provider that replaces each refresh token at
      once no longer accepts the old one, so the user signs in again. Some providers have a setting for a grace period.
    - *logout*: a logout, then a sign-in of another user in the same browser.
    - *device*: a device code that is denied, then a device code that is pending, polled too fast, and granted.
    - *requests*: the number of requests that the app makes for its first sign-in, including discovery and keys.
    - *facts*: how many values in the dialect are measured / documented / reported / guessed.
    - The letter after a cell is the weakest fact that the cell depends on: (m) measured, (d) documented, (r) reported,
      (g) a guess. A cell without a letter depends only on the specifications.

    An empty cell means that the sign-in before it failed. *None* means that the provider does not support the feature.

    """

  /// The facts on which each column depends.
  private static let areas: [(Column, [String])] = [
    (
      .signIn,
      ["issuer", "discovery", "urls", "client", "redirect", "scope", "authorize", "token", "jwks", "par"]
    ),
    (
      .bare,
      ["issuer", "discovery", "urls", "client", "redirect", "scope", "authorize", "token", "jwks", "par"]
    ),
    (.profile, ["idToken", "userinfo"]), (.renewal, ["refresh", "client"]),
    (.logout, ["logout", "revocation", "authorize"]), (.device, ["device"]),
  ]

  /// The kind of the least certain fact on which a cell depends; nil if the cell depends on no fact.
  private static func basis(of column: Column, _ entry: KnownProvider) -> KnownProvider.Fact.Kind? {
    let areas = areas.first { $0.0 == column }?.1 ?? []
    let kinds = entry.basis.filter { leaf in areas.contains { leaf.at.hasPrefix("/\($0)") } }.map(\.kind)
    return KnownProvider.Fact.Kind.allCases.last { kinds.contains($0) }
  }

  private func basis(_ entries: [KnownProvider]) -> String {
    let kinds = entries.flatMap { entry in Self.areas.map { Self.basis(of: $0.0, entry) } }
    func count(_ kind: KnownProvider.Fact.Kind?) -> Int { kinds.count { $0 == kind } }
    return """

      Of the \(kinds.count) cells other than *requests*, \(count(.measured)) are based on measured facts only, \
      \(count(.documented)) also on documented facts, \(count(.reported)) also on reported facts, and \(count(.guess)) \
      also on a guess. The other \(count(nil)) are based only on the specifications: no deviation of the provider is known.

      """
  }

  private func advice(_ entries: [KnownProvider], _ rows: [String: Row]) -> String {
    let told = entries.compactMap { entry in rows[entry.id]?.advice.map { "- \(entry.name): \($0)" } }
    return "\nThe library reports these errors where bare defaults do not work:\n\n"
      + told.joined(separator: "\n") + "\n\n"
  }
}

extension KnownProvider.Fact.Kind {
  /// The letter that the page shows.
  fileprivate var letter: String { self == .guess ? "g" : String(rawValue.prefix(1)) }
}
