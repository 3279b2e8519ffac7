// Published URLs that are meant to confuse readers. The oracle is what a browser makes of each (WHATWG URL).

import EnrollCore
import EnrollJSON
import Foundation
import TestVectors
import Testing

@Suite("Published URLs (R9)", .enabled(if: Vectors.arePresent))
struct URLVectorTests {
  /// These files hold what our own reader refuses (R37): NUL, and halves of surrogate pairs, which become U+FFFD here.
  private func objects(_ path: String) throws -> [[String: Any]] {
    let text = String(decoding: try Vectors.bytes(path), as: UTF8.self)
    let halves =
      #"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"#
    let whole = text.replacingOccurrences(of: halves, with: #"\\ufffd"#, options: .regularExpression)
    let elements = try JSONSerialization.jsonObject(with: Data(whole.utf8)) as? [Any] ?? []
    return elements.compactMap { $0 as? [String: Any] }
  }

  @Test("nothing is accepted whose host a browser reads differently (url-wpt)")
  func webPlatformTests() throws {
    var accepted = 0
    var refused = 0
    for test in try objects("url-wpt/urltestdata.json") {
      guard var input = test["input"] as? String else { continue }
      // Most of these are http, which we refuse for that alone. Browsers read the hosts of both alike.
      if input.lowercased().hasPrefix("http:") { input = "https:" + input.dropFirst(5) }
      guard let url = try? StrictURL(input) else {
        refused += 1
        continue
      }
      accepted += 1
      #expect(test["failure"] as? Bool != true, "a browser refuses \(input)")
      #expect(test["hostname"] as? String == (url.hostText ?? "").lowercased(), "\(input)")
      #expect(test["username"] as? String == "" && test["password"] as? String == "", "\(input)")
    }
    #expect(accepted > 10)
    #expect(refused > 400)
  }

  @Test("a host that IDNA would change is refused, one that it keeps is kept (url-wpt)")
  func internationalHosts() throws {
    var accepted = 0
    for file in ["toascii", "IdnaTestV2", "verifydnslength_tests"] {
      for test in try objects("url-wpt/\(file).json") {
        guard let input = test["input"] as? String, let url = try? StrictURL("https://\(input)/x") else {
          continue
        }
        accepted += 1
        guard url.text(url.path) == "/x", let output = test["output"] as? String else {
          // A label that only claims to be Punycode is a name nobody can reach by browser, not another host.
          #expect(input.lowercased().contains("xn--"), "\(input)")
          continue
        }
        #expect(output == (url.hostText ?? "").lowercased(), "\(input)")
      }
    }
    #expect(accepted > 50)
  }

  @Test("no look-alike of a claimed host is taken for it (open-redirect)")
  func openRedirects() throws {
    var accepted = 0
    for file in ["openredirects", "Open-Redirect-payloads", "open_redirect_wordlist"] {
      for payload in try Vectors.json("open-redirect/\(file).json").array ?? [] {
        guard let text = payload.string, let url = try? StrictURL(text), let host = url.hostText else {
          continue
        }
        guard url.kind == .https, host == "www.whitelisteddomain.tld" else { continue }
        accepted += 1
        // A browser goes to the claimed host with these: what follows is path and query.
        #expect(text.hasPrefix("https://www.whitelisteddomain.tld/"), "\(text)")
      }
    }
    #expect(accepted > 0)
  }
}
