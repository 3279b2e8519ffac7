// Characters beyond ASCII.

import Testing

@testable import enroll

@Suite("Signs")
struct SignsTests {
  @Test("signs beyond ASCII only where the locale has them")
  func signs() {
    #expect(Signs(Environment(["LANG": "en_GB.UTF-8"])).good == "✓")
    #expect(Signs(Environment(["LANG": "en_GB.UTF-8", "LC_ALL": "C"])).good == "+")
    #expect(Signs(Environment([:])).frames == ["|", "/", "-", "\\"])
  }
}
