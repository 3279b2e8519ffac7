// A directory's configuration, the address to which a browser may be sent back, and the script for Okta's
// sign-in page.

import EnrollRules
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON
import Expectations
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("settings of a directory")
struct DirectorySettingsTests {
  static func settings(_ directory: String) throws -> DirectorySettings? {
    try TestGateway.settings([("directory", try JSON.parse(Array(directory.utf8)))]).directory
  }

  static let okta = #""kind": "okta", "url": "https://org.example", "token": "t", "provider": "fake""#

  @Test("a directory by SCIM has a token or a client, and looks people up by both attributes")
  func scim() throws {
    let directory = try #require(
      try Self.settings(#"{"kind": "scim", "url": "https://id.example/scim/v2/", "token": "t"}"#))
    expect(directory.url, is: "https://id.example/scim/v2")
    expect(directory.lookup, is: [.userName, .emails])
    expect(directory.provider, is: nil)
    let client = try #require(
      try Self.settings(
        #"{"kind": "scim", "url": "https://id.example", "lookup": ["emails"], "tokenUri": "https://id.example/t", "clientId": "c", "clientSecret": "s"}"#
      ))
    expect(client.lookup, is: [.emails])
    guard case .client(let told)? = client.credentials else {
      Issue.record("expected a client")
      return
    }
    expect(told.id, is: "c")
  }

  @Test(
    "what cannot work is refused by its key",
    arguments: [
      (#"{"kind": "ldap"}"#, "directory.kind"), (#"{"kind": "scim", "token": "t"}"#, "directory.url"),
      (#"{"kind": "scim", "url": "http://id.example", "token": "t"}"#, "directory.url"),
      (#"{"kind": "scim", "url": "http://127.0.0.1:1", "token": "t"}"#, "directory.url"),
      (#"{"kind": "scim", "url": "https://id.example?a=b", "token": "t"}"#, "directory.url"),
      (#"{"kind": "scim", "url": "https://id.example"}"#, "directory.token"),
      (#"{"kind": "scim", "url": "https://id.example", "token": "a b"}"#, "directory.token"),
      (
        #"{"kind": "scim", "url": "https://id.example", "token": "t", "clientId": "c"}"#,
        "directory.clientId"
      ),
      (
        #"{"kind": "scim", "url": "https://id.example", "token": "t", "provider": "other"}"#,
        "directory.provider"
      ),
      (
        #"{"kind": "scim", "url": "https://id.example", "token": "t", "fromUris": []}"#,
        "directory.fromUris"
      ),
      (
        #"{"kind": "scim", "url": "https://id.example", "clientId": "c", "clientSecret": "s"}"#,
        "directory.tokenUri"
      ),
      (#"{"kind": "okta", "url": "https://org.example", "token": "t"}"#, "directory.provider"),
      (#"{"kind": "okta", "url": "https://org.example", "provider": "fake"}"#, "directory.token"),
      ("{\(okta), \"lookup\": [\"emails\"]}", "directory.lookup"),
      ("{\(okta), \"fromUris\": [\"https://org.example/authorize\"]}", "directory.fromUris"),
      ("{\(okta), \"fromUris\": [\"https://id.example/authorize?a=b\"]}", "directory.fromUris"),
      (#"{"kind": "own", "token": "t"}"#, "directory.token"),
    ])
  func refusals(text: String, field: String) throws {
    do {
      _ = try Self.settings(text)
      Issue.record("was taken: \(text)")
    } catch let error as EnrollError {
      expect(error.field, is: field, "\(error.message)")
    }
  }

  @Test("the authorize address of an issuer is that of its kind")
  func authorizeAddress() throws {
    expect(
      DirectorySettings.authorizeAddress(ofIssuer: "https://id.example/oauth2/aus1"),
      is: "https://id.example/oauth2/aus1/v1/authorize")
    expect(
      DirectorySettings.authorizeAddress(ofIssuer: "https://id.example"),
      is: "https://id.example/oauth2/v1/authorize")
    let directory = try #require(try Self.settings("{\(Self.okta)}"))
    expect(directory.fromURIs.map { $0.text }, is: ["https://id.example/oauth2/v1/authorize"])
  }

  @Test(
    "a fromURI is the issuer's own authorize address up to its query, byte for byte",
    arguments: [
      ("https://id.example/oauth2/v1/authorize?okta_key=a", true),
      ("https://id.example/oauth2/v1/authorize", true),
      ("https://id.example/oauth2/v1/authorize#x", false),
      ("https://id.example/oauth2/v1/authorize/", false),
      ("https://id.example/oauth2/v1/authorizer", false),
      ("https://id.example/oauth2/v1/../v1/authorize", false),
      ("https://ID.example/oauth2/v1/authorize", false),
      ("https://id.example:443/oauth2/v1/authorize", false), ("https://id.example/logout", false),
      ("https://id.example.evil.org/oauth2/v1/authorize", false),
      ("https://id.example@evil.org/oauth2/v1/authorize", false),
      ("https://evil.org/oauth2/v1/authorize", false), ("http://id.example/oauth2/v1/authorize", false),
      ("//id.example/oauth2/v1/authorize", false), ("/oauth2/v1/authorize", false),
      ("https:/id.example/oauth2/v1/authorize", false), ("https:\\\\id.example\\oauth2", false),
      ("javascript:alert(1)", false), ("", false), (" https://id.example/oauth2/v1/authorize", false),
      ("https://id.example/oauth2/v1/authorize?a=\nb", false),
      ("https://id.example/oauth2%2Fv1/authorize", false),
      ("https://id.example/oauth2/v1/authorize?k=" + String(repeating: "a", count: 1500), false),
    ])
  func fromURI(text: String, isTaken: Bool) throws {
    let allowed = [try StrictURL("https://id.example/oauth2/v1/authorize")]
    expect((FromURI(text, allowed: allowed) != nil), is: isTaken)
    expect(FromURI(text, allowed: []), is: nil)
  }

  @Test("the script for Okta's sign-in page never changes: pages elsewhere name its hash")
  func script() throws {
    let hash = try Digest.sha384.hash(Asset.oktaSignIn.bytes)
    expect(Base64.encode(hash), is: "GjIvuqjPfdLHupSICJ7SVOeTjB1cvo3Qa0b5dIN/IMdGxRGI3rMQuTYUkwekCddp")
    expect(Asset.oktaSignIn.path, is: "/assets/okta-sign-in-1.js")
    let gateway = try TestGateway()
    let answer = TestBrowser(gateway.gateway).get("/assets/okta-sign-in-1.js")
    expect(answer.status, is: 200)
    expect(answer.header("Access-Control-Allow-Origin"), is: "*")
    expect(answer.header("Content-Type"), is: "text/javascript; charset=utf-8")
  }
}
