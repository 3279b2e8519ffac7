import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("The data of the known providers")
struct DialectTests {
  private func refusal(_ text: String) throws -> String? {
    let json = try JSON.parse(Array(#"{"providers":[\#(text)]}"#.utf8))
    do throws(DialectError) {
      _ = try KnownProviders.all(json)
      return nil
    } catch {
      return error.description
    }
  }

  private func provider(_ dialect: String, _ facts: String, id: String = "one", like: String = "") -> String {
    #"{"id":"\#(id)","name":"One",\#(like)"dialect":\#(dialect),"facts":[\#(facts)]}"#
  }

  private let issuer = #"{"at":"/issuer","kind":"documented","source":["https://one.example/doc"]}"#

  @Test("every leaf of every dialect rests on a fact, and every fact but a guess on a source")
  func whole() throws {
    let entries = try KnownProviders.all()
    expect(entries.count, is: 37)
    expect(Set(entries.map(\.id)).count, is: 37)
    for entry in entries {
      #expect(!entry.facts.isEmpty && entry.leaves.count >= entry.facts.count - 2, "\(entry.id)")
    }
  }

  @Test("a leaf without a fact is refused")
  func leaf() throws {
    let dialect = #"{"issuer":"https://one.example","token":{"expiresIn":7200}}"#
    try expect(refusal(provider(dialect, issuer)), is: "one: /token/expiresIn: no fact speaks for it")
    let fact = #"{"at":"/token","kind":"guess"}"#
    try expect(refusal(provider(dialect, "\(issuer),\(fact)")), is: nil)
  }

  @Test(
    "a fact without a source is refused unless it is a guess",
    arguments: ["measured", "documented", "reported"])
  func source(kind: String) throws {
    let fact = #"{"at":"/issuer","kind":"\#(kind)"}"#
    #expect(
      try refusal(provider(#"{"issuer":"https://one.example"}"#, fact))
        == "one: /issuer: \(kind) without a source")
  }

  @Test("a fact about nothing is refused")
  func nothing() throws {
    let fact = #"{"at":"/token/expiresIn","kind":"guess"}"#
    #expect(
      try refusal(provider(#"{"issuer":"https://one.example"}"#, "\(issuer),\(fact)"))
        == "one: /token/expiresIn: a fact about nothing")
  }

  @Test("what the fake does not play is refused: a member, and a value")
  func unplayed() throws {
    let fact = #"{"at":"/token","kind":"guess"}"#
    for (member, problem) in [
      (#""colour":"blue""#, "one: /token/colour: the fake does not play this"),
      (#""errorStatus":"high""#, "one: /token/errorStatus: expected an integer"),
      (#""accessToken":"now and then""#, "one: /token/accessToken: expected one of always, forAPIScope"),
    ] {
      let dialect = #"{"issuer":"https://one.example","token":{\#(member)}}"#
      try expect(refusal(provider(dialect, "\(issuer),\(fact)")), is: problem)
    }
  }

  @Test("a provider that is like another has its dialect, and counts its own leaves alone")
  func like() throws {
    let first = provider(
      #"{"issuer":"https://one.example","device":{"style":"none"}}"#,
      "\(issuer),\(#"{"at":"/device","kind":"guess"}"#)")
    let second = provider(
      #"{"issuer":"https://two.example"}"#, issuer, id: "two", like: #""like":"one","#)
    let json = try JSON.parse(Array(#"{"providers":[\#(first),\#(second)]}"#.utf8))
    let entries = try KnownProviders.all(json)
    expect(entries[1].dialect.issuer, is: "https://two.example")
    #expect(!entries[1].dialect.hasDeviceFlow)
    expect(entries[1].leaves.map(\.at), is: ["/issuer"])
    expect(entries[1].basis.map(\.at), is: ["/issuer", "/device/style"])
    #expect(entries[1].count(.documented) == 1 && entries[1].count(.guess) == 0)
    try expect(refusal(second), is: "two: it is like one, which is not before it")
  }
}
