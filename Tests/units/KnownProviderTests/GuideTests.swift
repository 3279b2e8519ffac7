// Tests of the guides in docs/providers: a client with the registration and the configuration from a guide signs in at
// the fake provider that imitates the guide's provider.

import EnrollRules
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("The guides to the providers")
struct GuideTests {
  @Test(
    "each configuration signs in, renews and signs out, by each redirect URI that its page registers",
    arguments: try Guide.all().filter { $0.entry != nil }, FaceName.allCases)
  func plays(guide: Guide, face: FaceName) throws {
    for redirectURI in guide.redirectURIs {
      let used = try Self.withFreePort(redirectURI)
      let stage = try stage(guide, used, face)
      defer { stage.client.close() }
      try signIn(stage, guide)
      let cells = try Table.read()[stage.fake.id]?.cells ?? [:]
      if cells[.profile] == "works" {
        let claims = try stage.profile()
        expect(claims?["sub"]?.string, is: stage.fake.subject(of: "alice"), "\(redirectURI)")
        #expect(claims?["name"]?.string != nil && claims?["email"]?.string != nil, "\(redirectURI)")
      }
      let isRenewed = cells[.renewal] != "none"
      for _ in 1...2 { try expect((stage.renew() == "valid"), is: isRenewed, "\(redirectURI)") }
      try stage.signOut()
      // The listener of a configured port stays open, because the test passes the redirect to the client
      // directly.
      guard !guide.isForDevices, used == redirectURI, cells[.profile] == "works" else { continue }
      try stage.signIn(as: "bob")
      try expect(stage.profile()?["sub"]?.string, is: stage.fake.subject(of: "bob"), "\(redirectURI)")
    }
  }

  @Test("each page has a configuration, and each configuration is one that EnrollKit accepts")
  func pages() throws {
    let guides = try Guide.all()
    for page in try Guide.pages() {
      #expect(guides.contains { $0.page == page.lastPathComponent }, "\(page.lastPathComponent)")
    }
    for guide in guides {
      for redirectURI in guide.redirectURIs {
        let configuration = try Configuration(json: guide.configuration(redirectURI))
        expect(configuration.redirectURI, is: redirectURI, "\(guide)")
      }
      let own = try Configuration(json: .object(guide.object)).redirectURI
      #expect(guide.redirectURIs.contains(own), "\(guide) registers another redirect URI than it configures")
      #expect(guide.entry != nil || guide.object["bff"] != nil, "\(guide) names no known provider")
    }
  }

  @Test("a page names the redirect after a logout that its configuration has")
  func logouts() throws {
    for guide in try Guide.all() {
      guard let uri = guide.object["postLogoutRedirectUri"]?.string else { continue }
      let text = try String(contentsOf: Guide.folder.appendingPathComponent(guide.page), encoding: .utf8)
      #expect(text.contains("| `\(uri)` |"), "\(guide)")
    }
  }

  @Test("a command of a page says what a configuration of that page says")
  func commands() throws {
    let names = [
      "--provider": "provider", "--issuer": "issuer", "--client-id": "clientId",
      "--redirect-uri": "redirectUri",
    ]
    let beginnings = ["enroll login --provider ", "enroll login --issuer "]
    for page in try Guide.pages() {
      let guides = try Guide.all().filter { $0.page == page.lastPathComponent }
      let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
      for line in lines where beginnings.contains(where: { line.hasPrefix($0) }) {
        var words = line.split(separator: " ").map(String.init)[2...]
        var said: [(String, JSON?)] = []
        while let option = words.popFirst(), option != "--device" {
          let value = words.popFirst() ?? ""
          let part = value.split(separator: "=", maxSplits: 1).map(String.init)
          if option == "--set" { said.append((part[0], .string(part[1]))) }
          if let name = names[option] { said.append((name, .string(value))) }
        }
        #expect(guides.contains { guide in said.allSatisfy { guide.object[$0.0] == $0.1 } }, "\(line)")
      }
    }
  }

  @Test("each page says at which version of the server it was tried, or that it was not")
  func versions() throws {
    for page in try Guide.pages() {
      let text = try String(contentsOf: page, encoding: .utf8)
      let told = text.components(separatedBy: "## Sources and tests").last?.replacing("\n", with: " ") ?? ""
      let isRun = told.contains(/Run against [^:.]* [0-9]+\./)
      #expect(
        isRun || told.contains("not run here") || told.contains("nothing here has run against"), "\(page)")
      guard isRun || told.contains("Recorded at") else { continue }
      let guide = try #require(Guide.all().first { $0.page == page.lastPathComponent })
      #expect(
        try KnownProviders.named(guide.entry ?? "").count(.measured) > 0, "\(page): nothing of it is measured"
      )
    }
  }

  @Test("Apple alone is refused, with the way that remains")
  func apple() throws {
    let object: [(String, JSON?)] = [
      ("provider", .string("apple")), ("clientId", .string("com.example.app")),
      ("redirectUri", .string("https://app.example/callback")),
    ]
    let error = #expect(throws: EnrollError.self) { try Configuration(json: .object(object)) }
    expect(error?.code, is: .configuration)
    expect(error?.message.contains("through a back end, with bff"), is: true)
  }

  @Test("docs/providers.md and the site lead to each page")
  func links() throws {
    let docs = Guide.folder.deletingLastPathComponent()
    let text = try String(contentsOf: docs.appendingPathComponent("providers.md"), encoding: .utf8)
    let site = docs.deletingLastPathComponent().appendingPathComponent("mkdocs.yml")
    let navigation = try String(contentsOf: site, encoding: .utf8)
    for page in try Guide.pages() {
      #expect(text.contains("(providers/\(page.lastPathComponent))"), "\(page.lastPathComponent)")
      #expect(navigation.contains(": providers/\(page.lastPathComponent)\n"), "\(page.lastPathComponent)")
    }
  }

  // MARK: Playing

  private func stage(_ guide: Guide, _ redirectURI: String, _ face: FaceName) throws -> Stage {
    let json = guide.configuration(redirectURI)
    let configuration = try Configuration(json: json)
    let clock = FakeClock()
    let fake = try FakeProvider(
      KnownProviders.named(guide.entry ?? ""),
      registration: FakeProvider.Registration(
        clientID: guide.object["clientId"]?.string ?? "",
        secret: guide.object["clientSecret"]?.string ?? "no client has this",
        redirectURIs: [redirectURI],
        postLogoutRedirectURIs: configuration.postLogoutRedirectURI.map { [$0] } ?? []),
      clock: clock)
    return Stage(fake: fake, clock: clock, client: try face.open(json, fake, clock))
  }

  private func signIn(_ stage: Stage, _ guide: Guide) throws {
    guard guide.isForDevices else { return try stage.signIn() }
    stage.fake.device(.granted)
    let begun = try stage.client.call("registration.begin", [("kind", .string("device"))])
    _ = try stage.settled(begun)
  }

  /// The redirect URI. The page's port, if it has one, is replaced by a port that is free on this machine.
  private static func withFreePort(_ redirectURI: String) throws -> String {
    guard redirectURI.contains(":8400/") else { return redirectURI }
    let listener = try LoopbackListener(redirectURI: redirectURI.replacing(":8400/", with: "/"))
    defer { listener.close() }
    return listener.redirectURI
  }
}

/// A configuration from a page, and the redirect URIs that are registered for it.
struct Guide: Sendable, CustomTestStringConvertible {
  /// The name of the page's file.
  let page: String
  let object: JSONObject
  let redirectURIs: [String]

  static let folder = Repository.top.appendingPathComponent("docs/providers")

  var testDescription: String { "\(page), \(object["provider"]?.string ?? "no provider")" }

  /// The provider's id among the known providers; if there is no preset, this is the name of the page. nil if the
  /// client in the guide is a back end.
  var entry: String? {
    guard let provider = object["provider"]?.string else {
      return object["issuer"] == nil || object["bff"] != nil ? nil : String(page.dropLast(".md".count))
    }
    return [
      "google": "google-desktop", "entra": "entra-tenant", "github-device": "github", "spring": "spring-as",
    ][provider] ?? provider
  }

  var isForDevices: Bool { object["provider"]?.string == "github-device" }

  /// The page's configuration with this redirect URI, changed so that the user is not asked to confirm.
  func configuration(_ redirectURI: String) -> JSON {
    var object = object
    object["redirectUri"] = .string(redirectURI)
    object["confirmation"] = .bool(false)
    return .object(object)
  }

  static func pages() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "md" }.sorted { $0.path < $1.path }
  }

  static func all() throws -> [Guide] { try pages().flatMap { try read($0) } }

  /// Reads each block of JSON, with the table of redirect URIs before it.
  private static func read(_ page: URL) throws -> [Guide] {
    var guides: [Guide] = []
    var (redirectURIs, isTable, block): ([String], Bool, String?) = ([], false, nil)
    for line in try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n") {
      if let text = block {
        guard line.hasPrefix("```") else {
          block = text + line + "\n"
          continue
        }
        guard let object = try JSON.parse(Array(text.utf8)).object else { continue }
        guides.append(Guide(page: page.lastPathComponent, object: object, redirectURIs: redirectURIs))
        block = nil
      } else if line == "```json" {
        block = ""
      } else if line.hasPrefix("| platform |") {
        (isTable, redirectURIs) = (true, [])
      } else if isTable, line.hasPrefix("|") {
        let cell = line.split(separator: "|").last?.trimmingCharacters(in: .whitespaces) ?? ""
        if cell.hasPrefix("`"), cell.hasSuffix("`") { redirectURIs.append(cell.filter { $0 != "`" }) }
      } else {
        isTable = false
      }
    }
    return guides
  }
}

extension Stage {
  /// Uses an existing provider and client.
  init(fake: FakeProvider, clock: FakeClock, client: any Face) {
    (self.fake, self.clock, self.client) = (fake, clock, client)
  }
}
