import EnrollRules
import EnrollCrypto
import EnrollJSON
import Expectations
import Foundation
import TestVectors
import Testing

@Suite("Links that reach the app (R9-R11)")
struct ReceivedLinkTests {
  private func read(_ text: String, _ change: [String] = []) throws -> ReceivedLink? {
    try ReceivedLink.read(
      text,
      configuration: Configuration(
        issuer: Fixture.issuer, clientID: "native", redirectURI: "https://app.example/callback"
      ) {
        $0.postLogoutRedirectURI = "https://app.example/out"
        $0.fallbackURI = "com.example.app://identity/fallback"
        $0.appLinks =
          change.isEmpty
          ? [
            "https://app.example/welcome/{activationToken}", "com.example.app://mail?t={activationToken}&v=1",
          ]
          : change
      })
  }

  private func token(_ link: ReceivedLink?) -> String? {
    guard case .activation(let token, _) = link else { return nil }
    return token.secret.reveal()
  }

  @Test("the token of an allow-listed link is what stands in its place")
  func accepted() throws {
    try expect(token(read("https://app.example/welcome/Abc-._~9")), is: "Abc-._~9")
    try expect(token(read("com.example.app://mail?t=x&v=1")), is: "x")
    try expect(token(read("https://app.example/welcome/x#fragment")), is: "x", "dropped unread (R8)")
    let longest = String(repeating: "a", count: ActivationToken.maximumBytes)
    try expect(token(read("https://app.example/welcome/" + longest)), is: longest)
  }

  @Test(
    "a token that is missing, too long or of other characters is refused, and is in no text (R11)",
    arguments: [
      "https://app.example/welcome/", "com.example.app://mail?t=&v=1",
      "https://app.example/welcome/" + String(repeating: "a", count: 1025),
      "https://app.example/welcome/secret%20x", "https://app.example/welcome/secret+x",
      "https://app.example/welcome/secret=x", "https://app.example/welcome/secret,x",
      "https://app.example/welcome/secret%2F..", "https://app.example/welcome/secret;x",
      "https://app.example/welcome/secret\u{e9}", "https://app.example/welcome/secret\n",
      "https://app.example/welcome/secret\\x", "https://app.example/welcome/secret%00",
      "https://app.example/welcome/secret%", "https://app.example/welcome/..",
      "https://app.example/welcome/%2e%2e",
    ])
  func badToken(link: String) throws {
    let refused = try #require(refusal { try read(link) })
    expect(refused.code, is: .redirectMalformed)
    #expect(!refused.message.contains("secret") && !refused.message.contains("aaaa"))
  }

  @Test(
    "what is not an allow-listed link byte by byte is none of ours, or no URL at all (R9)",
    arguments: [
      "https://app.example.evil.example/welcome/x", "https://app.example@evil.example/welcome/x",
      "https://evil.example/welcome/x", "https://app.examp1e/welcome/x", "https://APP.example/welcome/x",
      "https://app.example./welcome/x", "https://app.example:443/welcome/x",
      "https://app.example:8443/welcome/x",
      "https://app%2eexample/welcome/x", "https://\u{430}pp.example/welcome/x",
      "https://xn--pp-7lc.example/welcome/x",
      "https://app.example\\@evil.example/welcome/x", "https://app.example\u{0}/welcome/x",
      "http://app.example/welcome/x", "HTTPS://app.example/welcome/x", "//app.example/welcome/x",
      "https:/app.example/welcome/x", "https:app.example/welcome/x", " https://app.example/welcome/x",
      "https://app.example/Welcome/x", "https://app.example//welcome/x", "https://app.example/welcome//x",
      "https://app.example/welcome/x/", "https://app.example/welcome/x/y",
      "https://app.example/welcome/x?fromURI=https://evil.example", "https://app.example/welcome/x?",
      "https://app.example/welcome", "https://app.example/%77elcome/x", "https://app.example/a/../welcome/x",
      "com.example.app://mail?t=x", "com.example.app://mail?t=x&v=1&v=2", "com.example.app://mail?t=x&v=2",
      "com.example.app:/mail?t=x&v=1", "com.example.apps://mail?t=x&v=1",
      "com.example.app://identity/fallback/", "com.example.app://identity/fallbac",
      "com.example.app:/identity/fallback", "com.example.app://identity2/fallback",
      "com.example.app://identity/Fallback", "",
    ])
  func lookAlikes(link: String) {
    #expect((try? read(link)) ?? nil == nil)
  }

  @Test("the fallback link is matched apart from its query, of which nothing is read (R10)")
  func fallback() throws {
    try expect(read("com.example.app://identity/fallback"), is: .fallback)
    try expect(read("com.example.app://identity/fallback?fromURI=https://evil.example"), is: .fallback)
    try expect(read("com.example.app://identity/fallback#x"), is: .fallback)
  }

  @Test("a redirect is no link, however wide the template is")
  func wide() throws {
    let wide = ["https://app.example/{activationToken}"]
    try expect(read("https://app.example/callback", wide), is: nil)
    try expect(read("https://app.example/callback?code=a&state=b", wide), is: nil)
    try expect(read("https://app.example/out", wide), is: nil)
    try expect(token(read("https://app.example/other", wide)), is: "other")
  }
}

@Suite("Look-alikes of a link's host (R9)")
struct LinkVectorTests {
  private static let claimed = "www.whitelisteddomain.tld"

  /// Configurations that together allow these links.
  private func configurations(_ links: [String]) throws -> [Configuration] {
    try stride(from: 0, to: links.count, by: 32).map { start in
      try Configuration(
        issuer: Fixture.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.appLinks = Array(links[start..<min(start + 32, links.count)])
      }
    }
  }

  /// The template that matches a text; nil if the text is refused.
  private func accepted(_ text: String, _ configurations: [Configuration]) -> LinkTemplate? {
    for configuration in configurations {
      if case .activation(_, let template)? = try? ReceivedLink.read(text, configuration: configuration) {
        return template
      }
    }
    return nil
  }

  /// Whether a browser surely goes to the claimed host for this text: `https://`, the host and a slash come first, so
  /// nothing after them can change the host (WHATWG URL, host parser).
  private func leadsToClaimedHost(_ text: String) -> Bool {
    text.hasPrefix("https://\(Self.claimed)/")
  }

  @Test("none is accepted that a browser takes elsewhere (open-redirect)", arguments: Vectors.atHand)
  func openRedirects(vectors: Vectors) throws {
    let claimed = try configurations([
      "https://\(Self.claimed)/{activationToken}", "https://\(Self.claimed)/?next={activationToken}",
      "https://\(Self.claimed)/https:/{activationToken}",
    ])
    var tried = 0
    var wrong: [String] = []
    for file in ["openredirects", "Open-Redirect-payloads", "open_redirect_wordlist"] {
      for payload in try vectors.json("open-redirect/\(file).json").array ?? [] {
        guard let text = payload.string else { continue }
        for link in [text, "https://\(Self.claimed)" + text, "https://\(Self.claimed)/" + text] {
          tried += 1
          if accepted(link, claimed) != nil, !leadsToClaimedHost(link) { wrong.append(link) }
        }
      }
    }
    print("links of open-redirect: \(tried) tried, \(wrong.count) accepted with another host")
    #expect(wrong.isEmpty)
    #expect(tried >= vectors.least(own: 180, published: 300))
    expect(accepted("https://\(Self.claimed)/token", claimed), isNot: nil, "the test can accept")
  }

  @Test("none is accepted whose host a browser reads as another (url-wpt)", arguments: Vectors.atHand)
  func webPlatformTests(vectors: Vectors) throws {
    let tests = try vectors.objects("url-wpt/urltestdata.json")
    // Each host that occurs in a test is claimed in turn.
    var hosts = Set(tests.compactMap { $0["hostname"] as? String }.filter { !$0.isEmpty })
    hosts.formUnion(["example.com", "app.example"])
    let links = hosts.map { "https://\($0)/{activationToken}" }.filter { (try? LinkTemplate($0)) != nil }
    #expect(links.count >= vectors.least(own: 5, published: 20))
    let claimed = try configurations(links)
    var tried = 0
    var taken = 0
    var wrong: [String] = []
    for test in tests {
      guard let given = test["input"] as? String else { continue }
      let input =
        given.lowercased().hasPrefix("http:") ? "https:" + given.dropFirst(5) : given
      tried += 1
      guard let template = accepted(input, claimed) else { continue }
      taken += 1
      let host = template.text.dropFirst("https://".count).prefix { $0 != "/" }
      if test["hostname"] as? String != String(host) { wrong.append(input) }
    }
    print(
      "links of url-wpt: \(tried) tried, \(taken) accepted, \(wrong.count) of them with another host")
    #expect(wrong.isEmpty)
    #expect(tried >= vectors.least(own: 50, published: 400))
  }
}
