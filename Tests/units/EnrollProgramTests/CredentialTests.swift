// The hosts that get a token from `enroll credential`, and the names under which the program runs another
// command.

import Testing

@testable import enroll

@Suite("Hosts that get a token")
struct CredentialTests {
  private func answer(_ url: String, _ named: String..., allowsHTTP: Bool = false) -> String {
    guard let target = CredentialTarget(url: url) else { return "none" }
    let hosts = CredentialHosts(
      named: named.compactMap { text in
        var host = NamedHost(text)
        host?.allowsLoopbackHTTP = allowsHTTP
        return host
      })
    switch hosts.answer(target) {
    case .allowed: return "allowed"
    case .foreign: return "foreign"
    case .refused: return "refused"
    }
  }

  @Test(
    "a host is the named one, whatever its letters, path and user name are",
    arguments: [
      ("https://git.example/a.git", "allowed"), ("https://GIT.example", "allowed"),
      ("https://me@git.example/a?b#c", "allowed"), ("https://git.example:443/", "allowed"),
      ("https://git.example:8443/", "refused"), ("https://evil.example/git.example", "foreign"),
      ("https://git.example@evil.example/", "foreign"), ("https://git.example.evil.example/", "foreign"),
      ("https://evil.example#@git.example", "foreign"), ("https://evil.example?@git.example", "foreign"),
      ("https://git.example\\@evil.example/", "none"), ("https://evil.example\\@git.example/", "none"),
      ("https://git.example%2eevil.example/", "none"),
      ("https://git.example./", "none"), ("https://git .example/", "none"), ("https://", "none"),
      ("//git.example/", "none"), ("git.example", "none"), ("ftp://git.example/", "none"),
      ("http://git.example/", "refused"), ("imaps://git.example", "allowed"),
      ("imap://git.example", "refused"),
      ("smtp://git.example:587", "refused"), ("smtp://git.example", "refused"),
      ("smtp://git.example:2525", "refused"), ("smtps://git.example:465", "allowed"),
      ("grpcs://git.example/x", "allowed"),
    ])
  func hosts(_ url: String, _ expected: String) {
    #expect(answer(url, "git.example", "other.example:8443") == expected, "\(url)")
  }

  @Test("a named port is that port alone")
  func ports() {
    #expect(answer("https://git.example:8443", "git.example:8443") == "allowed")
    #expect(answer("https://git.example", "git.example:8443") == "refused")
    #expect(answer("https://git.example", "git.example:443") == "allowed")
  }

  @Test("a server of mail gets a token if its port or its protocol is named")
  func mail() {
    #expect(answer("smtp://m.example:587", "smtp://m.example:587") == "allowed")
    #expect(answer("smtp://m.example:587", "smtp://m.example") == "allowed")
    #expect(answer("smtp://m.example:587", "m.example:587") == "allowed")
    #expect(answer("smtp://m.example:25", "m.example:25") == "allowed")
    #expect(answer("smtp://m.example:25", "smtp://m.example") == "refused")
    #expect(answer("smtp://m.example:587", "m.example") == "refused")
    #expect(answer("https://m.example", "smtp://m.example:587") == "refused")
    #expect(answer("https://m.example", "smtp://m.example", "m.example") == "allowed")
    #expect(answer("smtp://evil.example:587", "smtp://m.example:587") == "foreign")
  }

  @Test(
    "what names no host",
    arguments: [
      "", "ftp://m.example", "smtp://", "smtp://me@m.example", "https://m.example", "://m.example",
    ])
  func noHost(_ text: String) { #expect(NamedHost(text) == nil) }

  @Test("http is for this machine alone, if the user allows it")
  func loopback() {
    #expect(answer("http://127.0.0.1:8080", "127.0.0.1:8080") == "refused")
    #expect(answer("http://127.0.0.1:8080", "127.0.0.1:8080", allowsHTTP: true) == "allowed")
    #expect(answer("http://git.example", "git.example", allowsHTTP: true) == "refused")
    #expect(answer("http://[::1]:8080/", "[::1]:8080", allowsHTTP: true) == "allowed")
  }

  @Test("the name of a link is a command")
  func names() {
    #expect(
      ProgramName.words(["get", "h"], of: "terraform-credentials-enroll") == [
        "credential", "terraform", "get", "h",
      ])
    #expect(ProgramName.words([], of: "enroll-bearer") == ["token", "--format", "bearer"])
    #expect(ProgramName.words(["token"], of: "enroll") == ["token"])
    #expect(Set(CredentialFormat.all.map { $0.name }).count == CredentialFormat.all.count)
  }

  @Test("a program asks again before the token's end, and soon if the token is late")
  func margins() {
    #expect(BearerToken.margin(graceSeconds: 60, lifetimeSeconds: 300) == 60)
    #expect(BearerToken.margin(graceSeconds: 60, lifetimeSeconds: 15) == 7)
    #expect(BearerToken.margin(graceSeconds: 60, lifetimeSeconds: nil) == 60)
    #expect(BearerToken(text: "t", expiresAt: 1000, margin: 60, now: 700).askAgainAt == 940)
    #expect(BearerToken(text: "t", expiresAt: 1000, margin: 60, now: 980).askAgainAt == 985)
    #expect(BearerToken(text: "t", expiresAt: 1000, margin: 60, now: 999).askAgainAt == 1000)
    #expect(BearerToken(text: "t", expiresAt: nil, margin: 60, now: 999).askAgainAt == nil)
  }
}
