// Compares the measured values of the dialects with the recordings of the real servers, if the recordings are present.
// No file of this repository contains recorded values.

import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("What was measured at real servers")
struct RecordingTests {
  private static let measured = (try? KnownProviders.all().filter { $0.count(.measured) > 0 }.map(\.id)) ?? []

  @Test("names a line of a recording, or a question that Tests/system/RealTests asks the running server")
  func sources() throws {
    #expect(Self.measured.count >= 9)
    let questions = try Answers.read()
    for entry in try KnownProviders.all() {
      for fact in entry.facts where fact.kind == .measured {
        for source in fact.sources {
          let parts = source.split(separator: ":").map { $0.trimmingCharacters(in: .whitespaces) }
          // Two dialects may belong to one program: `running spring-refresh: loopback hosts`.
          let words = parts[0].split(separator: " ").map(String.init)
          let id = words.count == 2 ? words[1] : entry.id
          let isAsked = parts.count == 2 && words[0] == "running" && questions[id]?[parts[1]] != nil
          #expect(isAsked || parts.count == 2 && Int(parts[1]) != nil, "\(entry.id) \(fact.at): \(source)")
        }
      }
    }
  }

  @Test(
    "is what the recordings show",
    .enabled(if: Recording.isThere, "the recordings are not there; ENROLLKIT_REAL names another folder"),
    arguments: measured)
  func recorded(id: String) throws {
    for leaf in try KnownProviders.named(id).leaves where leaf.kind == .measured {
      let lines = leaf.sources.filter { !$0.hasPrefix("running") }
      guard !lines.isEmpty else { continue }
      let judge = Judge(value: leaf.value, exchanges: try lines.map { try Recording.exchange($0) })
      expect(judge.refutation(of: leaf.at), is: nil, "\(id), \(lines.joined(separator: " "))")
    }
  }

  @Test("is refused where the recordings show something else", .enabled(if: Recording.isThere))
  func otherwise() throws {
    let leaves = try KnownProviders.named("hydra").leaves
    for (at, wrong) in [
      ("/refresh/error/error", JSON.string("invalid_request")), ("/refresh/error/status", .integer(401)),
      ("/token/tokenType", .string("Bearer")), ("/refresh/rotates", .bool(false)),
      ("/par/announced", .bool(true)), ("/refresh/scope", .string("narrows")), ("/idToken/azp", .bool(true)),
    ] {
      let leaf = try #require(leaves.first { $0.at == at })
      let judge = Judge(value: wrong, exchanges: try leaf.sources.map { try Recording.exchange($0) })
      expect(judge.refutation(of: at), isNot: nil, "\(at)")
    }
  }
}
