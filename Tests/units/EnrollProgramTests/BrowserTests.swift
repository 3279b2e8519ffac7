// Tests which browser is started, and with which arguments.

import Testing

@testable import enroll

@Suite("The browser")
struct BrowserTests {
  private func browser(_ environment: [String: String], has programs: Set<String> = ["xdg-open", "firefox"])
    -> Browser
  {
    Browser(Environment(environment)) { programs.contains($0) }
  }

  @Test("BROWSER goes before xdg-open, with all that it names and that is there")
  func named() {
    #expect(
      browser(["BROWSER": "lynx:firefox -P x %s", "DISPLAY": ":0"]).commands == [
        ["firefox", "-P", "x", "%s"]
      ])
    #expect(browser(["BROWSER": "lynx"]).absence == "BROWSER names no program that can be started")
    #expect(browser(["BROWSER": ": :"]).name == nil)
  }

  @Test("without a desktop xdg-open is not tried: it would start a browser in the terminal")
  func desktop() {
    #expect(browser([:]).absence?.contains("DISPLAY") == true)
    #expect(browser(["DISPLAY": ":0"]).commands == [["xdg-open"]])
    #expect(browser(["WAYLAND_DISPLAY": "wayland-0", "BROWSER": ""]).commands == [["xdg-open"]])
    #expect(browser(["DISPLAY": ":0"], has: []).absence == "xdg-open is not installed")
  }

  @Test("the address stands where %s says, else at the end")
  func words() {
    #expect(Browser.words(["b", "--url=%s", "-x"], address: "A") == ["b", "--url=A", "-x"])
    #expect(Browser.words(["b", "%s,%s"], address: "A") == ["b", "A,A"])
    #expect(Browser.words(["b", "-x"], address: "A%s") == ["b", "-x", "A%s"])
  }
}
