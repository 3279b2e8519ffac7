// The table of docs/providers.md, drawn from the expected cells and the facts.

import EnrollTesting
import Foundation
import Testing

@Suite("The page of the providers")
struct ProvidersPageTests {
  @Test("shows what the tests expect, and what that rests on", .enabled(if: !Table.isWritten))
  func page() throws {
    let (page, drawn) = try ProvidersPage().drawn()
    #expect(page == drawn, "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }
}

/// docs/providers.md.
struct ProvidersPage {
  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/providers.md")

  /// The page as it is, and as it should be.
  func drawn() throws -> (String, String) {
    let page = try String(contentsOf: Self.file, encoding: .utf8)
    let start = try #require(page.range(of: "<!-- zoo -->\n"))
    let end = try #require(page.range(of: "<!-- end of zoo -->", range: start.upperBound..<page.endIndex))
    return (page, page.replacingCharacters(in: start.upperBound..<end.lowerBound, with: try drawing()))
  }

  func write() throws { try drawn().1.write(to: Self.file, atomically: true, encoding: .utf8) }

  private let titles: [(Column, String)] = [
    (.signIn, "sign-in"), (.bare, "bare defaults"), (.profile, "profile"), (.renewal, "renewal"),
    (.logout, "logout"), (.device, "device"), (.requests, "requests"),
  ]

  private func drawing() throws -> String {
    let entries = try Zoo.entries()
    let rows = try Table.read()
    var text = """

      | provider | \(titles.map(\.1).joined(separator: " | ")) | facts |
      | --- |\(String(repeating: " --- |", count: titles.count + 1))

      """
    for entry in entries {
      let row = rows[entry.id] ?? Row()
      let cells = titles.map { row.cells[$0.0] ?? "" }
      let facts = ZooEntry.Fact.Kind.allCases.map { "\(entry.count($0))" }.joined(separator: " / ")
      text += "| \(entry.name) | \(cells.joined(separator: " | ")) | \(facts) |\n"
    }
    return text + legend + basis(entries) + advice(entries, rows)
  }

  private let legend = """

    - *sign-in*: with the configuration that the provider needs.
    - *bare defaults*: with issuer, client id and redirect alone, as one tries first.
    - *profile*: name and e-mail address of the user after the sign-in.
    - *renewal*: three in a row, where the answer to the second is lost. A provider that replaces each refresh token at once
      takes the old one no more, so the user signs in again; settings of some providers give a time of grace.
    - *logout*: out, then a sign-in of another user in the same browser.
    - *device*: a device code that is denied, then one that is pending, polled too fast, and granted.
    - *requests*: how many requests the app makes for its first sign-in, discovery and keys included.
    - *facts*: how many values of the dialect are documented / reported / guessed.

    An empty cell means that the sign-in before it failed; *none*, that the provider has none.

    """

  /// What each column depends on.
  private let areas: [(Column, [String])] = [
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

  private func basis(_ entries: [ZooEntry]) -> String {
    var counts = [0, 0, 0, 0]
    for entry in entries {
      for (_, areas) in areas {
        let kinds = entry.basis.filter { leaf in areas.contains { leaf.at.hasPrefix("/\($0)") } }.map(\.kind)
        let index = kinds.contains(.guess) ? 2 : kinds.contains(.reported) ? 1 : kinds.isEmpty ? 3 : 0
        counts[index] += 1
      }
    }
    return """

      Of the \(counts.reduce(0, +)) cells without the requests, \(counts[0]) rest on documented facts alone, \(counts[1]) on \
      reported ones, too, and \(counts[2]) on a guess, too. \(counts[3]) rest on the specifications alone: nothing is known \
      in which the provider differs.

      """
  }

  private func advice(_ entries: [ZooEntry], _ rows: [String: Row]) -> String {
    let told = entries.compactMap { entry in rows[entry.id]?.advice.map { "- \(entry.name): \($0)" } }
    return "\nWhat the library says where bare defaults do not work:\n\n" + told.joined(separator: "\n")
      + "\n\n"
  }
}
