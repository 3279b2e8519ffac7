import EnrollRules
import Expectations
import Testing

@Suite("For whom an access token is (RFC 8707 §2, RFC 6749 §6)")
struct TokenAudienceTests {
  private func refusal(_ resource: String?, _ scopes: [String]?) -> EnrollError? {
    do throws(EnrollError) {
      _ = try TokenAudience.naming(resource: resource, scopes: scopes)
      return nil
    } catch {
      return error
    }
  }

  static let resources = [
    "", "api.example", "/api", "https:", "https://", "http://api.example/", "http://127.0.0.1:8080/",
    "com.example.api:/", "urn:example:api", "https://api.example/#part", "https://api.example/#",
    "https://user@api.example/", "https://api.example/ ",
    "https://api.example/" + String(repeating: "a", count: 2029),
  ]

  @Test("a resource that is no absolute https URL without fragment is refused", arguments: resources)
  func badResource(_ resource: String) {
    let error = refusal(resource, nil)
    #expect(error?.code == .invalidArgument && error?.field == "resource")
    #expect(!(error?.message.contains("user@") ?? true))
  }

  @Test("a resource may have a port, a path, a query, and 2048 bytes")
  func goodResource() throws {
    for resource in [
      "https://api.example", "https://api.example:8443/v1?tenant=7",
      "https://api.example/" + String(repeating: "a", count: 2028),
    ] {
      try expect(TokenAudience.naming(resource: resource, scopes: nil)?.resource, is: resource)
    }
    try expect(
      TokenAudience.naming(resource: "http://127.0.0.1:8080/", scopes: nil, allowsLoopbackHTTP: true),
      isNot: nil)
  }

  static let scopes: [[String]] = [
    [], [""], ["a", ""], ["a b"], ["a\"b"], ["\u{e9}"], ["a", "a"], (0..<65).map { "s\($0)" },
    [String(repeating: "a", count: 257)],
  ]

  @Test("scopes that no request may carry are refused", arguments: scopes)
  func badScopes(_ scopes: [String]) {
    let error = refusal("https://api.example/", scopes)
    #expect(error?.code == .invalidArgument && error?.field == "scope")
  }

  @Test("without resource and scopes it is the session's own token")
  func none() throws {
    try expect(TokenAudience.naming(resource: nil, scopes: nil), is: nil)
  }

  @Test("the same pair in any order of scopes is one audience, and a resource is compared byte for byte")
  func equality() throws {
    func audience(_ resource: String?, _ scopes: [String]?) throws -> TokenAudience? {
      try TokenAudience.naming(resource: resource, scopes: scopes)
    }
    try expect(audience("https://a.example", ["b", "a"]), is: audience("https://a.example", ["a", "b"]))
    try expect(audience("https://a.example", nil), isNot: audience("https://a.example/", nil))
    try expect(audience(nil, ["a"]), isNot: audience("https://a.example", ["a"]))
    try expect(audience(nil, ["a"]), isNot: audience(nil, ["a", "b"]))
  }

  static let names: [(String, String, Bool)] = [
    ("https://a.example", "a b", true), ("https://a.example", "b a", true), ("https://a.example", "a", false),
    ("https://a.example", "a a", false), ("https://a.example", "a b c", false),
    ("https://a.example", "a  b", false),
    ("https://a.example", "a b ", false), ("https://a.example", "", false), ("", "a b", false),
    ("https://a.examplf", "a b", false), ("https://a.example/", "a b", false),
  ]

  @Test("bytes name an audience in any order of its scopes, each once", arguments: names)
  func named(_ resource: String, _ scopes: String, _ isNamed: Bool) throws {
    let audience = try #require(
      try TokenAudience.naming(resource: "https://a.example", scopes: ["a", "b"]))
    expect(Self.names(audience, resource, scopes), is: isNamed)
  }

  @Test("an audience without resource or without scopes is named by the other alone")
  func namedByOne() throws {
    let scoped = try #require(try TokenAudience.naming(resource: nil, scopes: ["a"]))
    #expect(Self.names(scoped, "", "a") && !Self.names(scoped, "https://a.example", "a"))
    let targeted = try #require(try TokenAudience.naming(resource: "https://a.example", scopes: nil))
    #expect(Self.names(targeted, "https://a.example", "") && !Self.names(targeted, "https://a.example", "a"))
  }

  private static func names(_ audience: TokenAudience, _ resource: String, _ scopes: String) -> Bool {
    Array(resource.utf8).withUnsafeBytes { resource in
      Array(scopes.utf8).withUnsafeBytes { scopes in audience.isNamed(resource: resource, scopes: scopes) }
    }
  }
}
