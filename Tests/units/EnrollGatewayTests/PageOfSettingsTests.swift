// Tests that docs/gateway/configuration.md shows the keys of the settings as they are in the code. ENROLL_WRITE_DOCS=1
// writes the keys into the page.

import EnrollRules
import EnrollJSON
import Expectations
import Foundation
import Testing

@testable import EnrollGateway

@Suite("the page of the gateway")
struct PageOfSettingsTests {

  static func rows(_ keys: [ConfigurationKey], below path: String = "") -> String {
    keys.map { key in
      let name = path + key.name
      let needed = key.isRequired ? " Required." : ""
      var text = "| `\(name)` | \(key.documentation)\(needed) |\n"
      if case .object(let inner) = key.shape { text += rows(inner, below: name + ".") }
      return text
    }.joined()
  }

  @Test("docs/gateway/configuration.md has every key, as the code has it")
  func keys() throws {
    let page = Repository.top.appendingPathComponent("docs/gateway/configuration.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    var drawn = text
    let tables = [
      ("gateway keys", GatewaySettings.keys), ("provider keys", GatewaySettings.providerKeys),
      ("app keys", GatewaySettings.appKeys),
    ]
    for (marker, keys) in tables {
      let start = try #require(drawn.range(of: "<!-- \(marker) -->\n"))
      let end = try #require(drawn.range(of: "<!-- end of \(marker) -->"))
      let table = "| key | meaning |\n| --- | --- |\n" + Self.rows(keys)
      drawn.replaceSubrange(start.upperBound..<end.lowerBound, with: table)
    }
    if ProcessInfo.processInfo.environment["ENROLL_WRITE_DOCS"] == "1" {
      try drawn.write(to: page, atomically: true, encoding: .utf8)
    }
    expect(text, is: drawn, "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }

  @Test("the configuration of the page is one that the gateway takes, but for the secrets in files")
  func example() throws {
    let file = Repository.top.appendingPathComponent("Examples/gateway.json")
    let text = try String(contentsOf: file, encoding: .utf8)
      .replacingOccurrences(of: "clientSecretFile", with: "clientSecret")
    let settings = try GatewaySettings(json: try JSON.parse(Array(text.utf8)))
    expect(settings.providers.map { $0.name }, is: ["google", "work"])
    expect(settings.providers[0].configuration.preset, is: "google")
    expect(settings.providers[0].configuration.redirectURI, is: "https://id.example/v1/auth/google/callback")
  }
}
