@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import Expectations
import Testing

@testable import EnrollHost

/// The allowed targets of requests (R19), and URLs that are never opened. StrictURL's tests cover the
/// grammar.
@Suite struct RequestTargetTests {
  @Test(
    "https is taken, and only scheme, host and port are shown (R40)",
    arguments: [
      ("https://id.example", "https://id.example"), ("https://id.example/p?q=secret", "https://id.example"),
      ("https://ID.example:8443/p", "https://ID.example:8443"), ("https://10.0.0.1?x", "https://10.0.0.1"),
    ])
  func https(_ url: String, _ display: String) throws {
    let target = try RequestTarget(url, allowsLoopbackHTTP: false)
    expect(target.display, is: display)
    #expect(!target.isPlain)
    #expect(!target.isLoopback)
  }

  @Test(
    "https to loopback needs no switch, and is known to be loopback",
    arguments: ["https://127.0.0.1:1/", "https://localhost"])
  func httpsToLoopback(_ url: String) throws {
    let target = try RequestTarget(url, allowsLoopbackHTTP: false)
    #expect(!target.isPlain)
    #expect(target.isLoopback)
  }

  private static let loopback = [
    "http://127.0.0.1/", "http://127.0.0.1:8080/x", "http://127.255.0.9", "http://[::1]:80/",
    "http://localhost:1/",
  ]

  @Test("http to loopback is taken where it is switched on (R19)", arguments: loopback)
  func loopbackAllowed(_ url: String) throws {
    let target = try RequestTarget(url, allowsLoopbackHTTP: true)
    #expect(target.isPlain)
    #expect(target.isLoopback)
  }

  @Test("http to loopback is refused where it is not switched on (R19)", arguments: loopback)
  func loopbackNotAllowed(_ url: String) {
    let error = #expect(throws: EnrollError.self) { try RequestTarget(url, allowsLoopbackHTTP: false) }
    expect(error?.code, is: .invalidArgument)
  }

  @Test(
    "what is not https, or http to loopback, is refused (R9, R19)",
    arguments: [
      "", "id.example", "//id.example/", "ftp://id.example/", "file:///etc/passwd", "com.example.app:/x",
      "com.example.app://id.example/x", "http://id.example/", "http://127.1/", "http://0x7f.0.0.1/",
      "http://2130706433/", "http://127.0.0.1.example/", "http://sub.localhost/",
      "http://[::ffff:127.0.0.1]/",
      "https://user:secret@id.example/", "https://id.example#secret", "https://id.example\\@evil.example/",
      "https://id.example/\r\nX: secret", "https://id.example/\u{0}", "https://id.example/a b",
      "https://id.example:0/",
      "https://id.example/" + String(repeating: "a", count: 20_000),
    ])
  func refused(_ url: String) {
    let error = #expect(throws: EnrollError.self) { try RequestTarget(url, allowsLoopbackHTTP: true) }
    expect(error?.code, is: .invalidArgument)
    expect(error?.message.contains("secret"), is: false)
  }
}
