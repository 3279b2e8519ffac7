import Expectations
import Foundation
import Testing

@Suite("Which grants the sources ask for (R16)")
struct GrantTests {
  private static let sources = Repository.top.appendingPathComponent("Sources")

  /// The grant types, as the sources spell them. `grantType` is Auth0's own grant for one-time codes.
  private static let known = [
    "EnrollRules": ["\"authorization_code\"", "\"refresh_token\"", "deviceGrant", "grantType"],
    "EnrollGateway": ["\"client_credentials\""],
  ]

  @Test(
    "the grants are the code, the refresh token, the device code and the one-time code: no password (R16)")
  func grants() throws {
    var found: [String: Set<String>] = [:]
    let files = FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil)
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      let module = file.path.dropFirst(Self.sources.path.count + 1).prefix { $0 != "/" }
      for sent in text.matches(of: /add\("grant_type", (.+?)\)/) {
        found[String(module), default: []].insert(String(sent.1))
      }
    }
    #expect(found == Self.known.mapValues(Set.init))
  }
}
