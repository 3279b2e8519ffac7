// URLs that confuse parsers. The expected result is what a browser does (WHATWG URL).

import EnrollRules
import EnrollJSON
import Expectations
import TestVectors
import Testing

@Suite("URLs as browsers read them (R9)")
struct URLVectorTests {
  @Test("the published vectors are at hand, too", Vectors.needPublished)
  func published() { expect(Vectors.atHand, is: Vectors.allCases) }

  @Test("nothing is accepted whose host a browser reads differently (url-wpt)", arguments: Vectors.atHand)
  func webPlatformTests(vectors: Vectors) throws {
    var accepted = 0
    var refused = 0
    for test in try vectors.objects("url-wpt/urltestdata.json") {
      guard var input = test["input"] as? String else { continue }
      // Most of these URLs are http, and would be refused for that alone. Browsers parse the hosts of both
      // schemes alike.
      if input.lowercased().hasPrefix("http:") { input = "https:" + input.dropFirst(5) }
      guard let url = try? StrictURL(input) else {
        refused += 1
        continue
      }
      accepted += 1
      expect(test["failure"] as? Bool, isNot: true, "a browser refuses \(input)")
      expect(test["hostname"] as? String, is: (url.hostText ?? "").lowercased(), "\(input)")
      #expect(test["username"] as? String == "" && test["password"] as? String == "", "\(input)")
    }
    #expect(accepted >= vectors.least(own: 10, published: 10))
    #expect(refused >= vectors.least(own: 30, published: 400))
  }

  @Test(
    "a host that IDNA would change is refused, one that it keeps is kept (url-wpt)", arguments: Vectors.atHand
  )
  func internationalHosts(vectors: Vectors) throws {
    var accepted = 0
    for file in ["toascii", "IdnaTestV2", "verifydnslength_tests"] {
      for test in try vectors.objects("url-wpt/\(file).json") {
        guard let input = test["input"] as? String, let url = try? StrictURL("https://\(input)/x") else {
          continue
        }
        accepted += 1
        guard url.text(url.path) == "/x", let output = test["output"] as? String else {
          // The name has a label that is not valid Punycode. No browser reaches any host by such a name, so the name
          // cannot lead to a wrong host.
          #expect(input.lowercased().contains("xn--"), "\(input)")
          continue
        }
        expect(output, is: (url.hostText ?? "").lowercased(), "\(input)")
      }
    }
    #expect(accepted >= vectors.least(own: 10, published: 50))
  }

  @Test("no look-alike of a claimed host is taken for it (open-redirect)", arguments: Vectors.atHand)
  func openRedirects(vectors: Vectors) throws {
    var accepted = 0
    for file in ["openredirects", "Open-Redirect-payloads", "open_redirect_wordlist"] {
      for payload in try vectors.json("open-redirect/\(file).json").array ?? [] {
        guard let text = payload.string, let url = try? StrictURL(text), let host = url.hostText else {
          continue
        }
        guard url.kind == .https, host == "www.whitelisteddomain.tld" else { continue }
        accepted += 1
        // A browser goes to the claimed host, too, because the rest of the URL is only path and query.
        #expect(text.hasPrefix("https://www.whitelisteddomain.tld/"), "\(text)")
      }
    }
    #expect(accepted > 0)
  }
}
