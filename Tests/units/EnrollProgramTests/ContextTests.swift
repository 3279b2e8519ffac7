// How configuration, store and account are found.

import EnrollArguments
import EnrollRules
import EnrollJSON
import Testing

@testable import enroll

@Suite("The place")
struct PlaceTests {
  private func place(_ words: [String], _ environment: [String: String] = [:]) throws -> Context {
    guard case .command(let invocation) = Enroll.program.read(["accounts"] + words) else {
      throw UsageError("\(words) are refused")
    }
    return try Context(
      try ContextOptions.read(invocation.values), environment: Environment(environment), current: { chosen })
  }

  /// The account that `enroll switch` chose.
  private var chosen: CurrentChoice?

  @Test(
    "the folder of a relative path is relative",
    arguments: [
      ("/a/b.json", "/a"), ("/b.json", "/"), ("a/b.json", "a"), ("b.json", "."), ("../b.json", ".."),
      ("/a//b/", "/a"),
    ])
  func parents(path: String, parent: String) { #expect(Folders.parent(of: path) == parent) }

  @Test("what was chosen counts where nothing of the place is named")
  func choice() throws {
    var tests = PlaceTests()
    tests.chosen = CurrentChoice(profile: "work", account: "second")
    let place = try tests.place([])
    #expect(place.configurationName == "work" && place.account == "second" && place.isChosen)
    for words in [["--profile", "a"], ["--account", "a"], ["--store", "/a"], ["--config", "/a"]] {
      #expect(try !tests.place(words).isChosen)
    }
    for name in ["ENROLL_PROFILE", "ENROLL_ACCOUNT", "ENROLL_STORE", "ENROLL_CONFIG"] {
      #expect(try !tests.place([], [name: "a"]).isChosen)
    }
    #expect(try tests.place(["--account", "a"]).configurationName == "default")
  }

  @Test(
    "what is said on the command line goes before the environment, a profile there before a file in the environment"
  )
  func order() throws {
    #expect(try place(["--config", "/a.json"], ["ENROLL_CONFIG": "/b.json"]).configurationPath == "/a.json")
    #expect(
      try place([], ["ENROLL_CONFIG": "/b.json", "ENROLL_PROFILE": "x"]).configurationPath == "/b.json")
    #expect(
      try place(["--profile", "work"], ["ENROLL_CONFIG": "/b.json"]).configurationPath
        .hasSuffix("/enrollkit/work.json"))
    #expect(try place([], ["ENROLL_PROFILE": "x"]).configurationName == "x")
    #expect(try place([]).configurationName == "default")
    #expect(try place(["--account", "a"], ["ENROLL_ACCOUNT": "b"]).account == "a")
    #expect(try place([], ["ENROLL_ACCOUNT": "b"]).account == "b")
    #expect(try place([], ["ENROLL_ACCOUNT": ""]).account == "default")
    #expect(try place(["--store", "/s"], ["ENROLL_STORE": "/t"]).store == "/s")
    #expect(try place([]).store.hasSuffix("/enrollkit"))
  }

  @Test(
    "a relative path in a configuration starts at the folder of its file, and at the current one for a descriptor"
  )
  func relativeFile() throws {
    #expect(try Context.absolute("ca.pem", in: "/etc/app/a.json") == "/etc/app/ca.pem")
    #expect(try Context.absolute("ca.pem", in: "/dev/fd/63") == Context.absolute("ca.pem"))
  }

  @Test("a relative store is one from here")
  func relative() throws {
    let store = try place(["--store", "here"]).store
    #expect(store.hasPrefix("/") && store.hasSuffix("/here"))
  }

  @Test("a name cannot leave its directory", arguments: ["../x", "a/b", ".x", "ä"])
  func names(name: String) {
    let failure = #expect(throws: Failure.self) { try place(["--profile", name]) }
    #expect(failure?.ending == .usage)
  }

  @Test("a provider that is named becomes a configuration that is acceptable, for Bearer tokens")
  func setup() throws {
    let said = ProviderSetup(
      issuer: "https://id.example", clientID: "app", redirectURI: ProviderSetup.redirectURI, scopes: [],
      allowsLoopbackHTTP: false)
    let configuration = try said.configuration.checked()
    #expect(said.isServed(by: configuration))
    #expect(configuration.usesLoopbackRedirect)
    #expect(said.configuration.json["dpop"]?.string == "never")
    #expect(said.configuration.json["allowLoopbackHTTP"] == nil)
    var other = said
    other.clientID = "other"
    #expect(!other.isServed(by: configuration))
    // The page is formatted for people, and can be read back.
    #expect(try JSON.parse(Array(said.configuration.page.utf8)) == said.configuration.json)
  }
}
