import EnrollRules
import Expectations
import Testing

@Suite("Which configuration a URL belongs to (flows.md §1)")
struct RedirectOwnerTests {
  private func configurations() throws -> [Configuration] {
    try ["dev", "code", "prod"].map { name in
      try Configuration(
        issuer: "https://\(name).example", clientID: name, redirectURI: "com.example.\(name):/callback"
      ) {
        $0.postLogoutRedirectURI = "com.example.\(name):/logout"
        $0.fallbackURI = "com.example.\(name)://identity/fallback"
        $0.appLinks = ["https://app.example/\(name)/welcome/{activationToken}"]
      }
    } + [
      Configuration(
        issuer: "https://desktop.example", clientID: "desktop", redirectURI: "http://127.0.0.1/callback"),
      Configuration(
        issuer: "https://fixed.example", clientID: "fixed", redirectURI: "http://127.0.0.1:8123/fixed"),
    ]
  }

  static let owned: [(String, Int?, Configuration.Ownership?)] = [
    ("com.example.dev:/callback?code=c&state=s", 0, .redirect), ("com.example.prod:/callback", 2, .redirect),
    ("com.example.code:/logout?state=s", 1, .logout), ("com.example.code://identity/fallback", 1, .fallback),
    ("https://app.example/prod/welcome/abc", 2, .activation),
    ("http://127.0.0.1:49152/callback?code=c", 3, .redirect),
    ("http://127.0.0.1:8123/fixed?code=c", 4, .redirect), ("http://127.0.0.1:8124/fixed?code=c", nil, nil),
    ("com.example.dev:/callback/", nil, nil),
    ("com.example.test:/callback", nil, nil), ("https://app.example/prod/welcome/a/b", nil, nil),
    ("https://app.example/prod/welcome/a?b", nil, nil), ("https://app.example/prod/welcome/a&b", nil, nil),
    ("https://app.example.evil/prod/welcome/abc", nil, nil), ("http://127.0.0.1:49152/other", nil, nil),
  ]

  @Test("its own, byte for byte but for the query and a loopback port (R5)", arguments: owned)
  func owners(url: String, index: Int?, ownership: Configuration.Ownership?) throws {
    let owner = try Configuration.owner(of: url, among: configurations())
    #expect(owner?.index == index && owner?.ownership == ownership)
  }

  @Test("a link that its taker would refuse is refused here in the same words (R11)")
  func likeTheReader() throws {
    let all = try configurations()
    for token in ["", "a%20b", "a+b", String(repeating: "a", count: 1025)] {
      let url = "https://app.example/prod/welcome/" + token
      expect(code { _ = try Configuration.owner(of: url, among: all) }, is: .redirectMalformed)
      expect(code { _ = try ReceivedLink.read(url, configuration: all[2]) }, is: .redirectMalformed)
    }
  }

  @Test("two configurations that own the same URL are refused, and so is what is no URL (R9)")
  func refused() throws {
    let all = try configurations()
    expect(
      code { _ = try Configuration.owner(of: "com.example.dev:/callback", among: all + [all[0]]) },
      is: .configuration)
    expect(code { _ = try Configuration.owner(of: "not a url", among: all) }, is: .redirectMalformed)
    #expect(try Configuration.owner(of: "com.example.dev:/callback", among: []) == nil)
  }
}
