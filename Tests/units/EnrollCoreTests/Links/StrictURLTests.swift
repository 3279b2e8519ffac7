import EnrollRules
import Expectations
import Testing

@Suite("URLs from outside (R9)")
struct StrictURLTests {
  private func refusal(_ text: String) -> StrictURL.Refusal? {
    do {
      _ = try StrictURL(text)
      return nil
    } catch {
      return error
    }
  }

  struct Parts: Sendable {
    var text: String
    var kind: StrictURL.Kind
    var host: String?
    var port: Int?
    var path: String
    var query: String?
  }

  @Test(
    "acceptable URLs fall into their parts",
    arguments: [
      Parts(text: "https://a.example", kind: .https, host: "a.example", path: ""),
      Parts(
        text: "https://a-1.example:8443/x/y?q=1?2&r#f", kind: .https, host: "a-1.example", port: 8443,
        path: "/x/y",
        query: "q=1?2&r"),
      Parts(text: "https://a.example?", kind: .https, host: "a.example", path: "", query: ""),
      Parts(text: "https://A.Example/", kind: .https, host: "A.Example", path: "/"),
      Parts(text: "https://192.0.2.7/", kind: .https, host: "192.0.2.7", path: "/"),
      Parts(text: "https://xn--bcher-kva.example/", kind: .https, host: "xn--bcher-kva.example", path: "/"),
      Parts(text: "http://127.0.0.1:1/cb", kind: .loopbackHTTP, host: "127.0.0.1", port: 1, path: "/cb"),
      Parts(text: "http://[::1]:65535/cb", kind: .loopbackHTTP, host: "[::1]", port: 65535, path: "/cb"),
      Parts(text: "http://[::1]/cb", kind: .loopbackHTTP, host: "[::1]", path: "/cb"),
      Parts(text: "http://localhost:5000/", kind: .loopbackHTTP, host: "localhost", port: 5000, path: "/"),
      Parts(text: "com.example.app:/cb?x=1", kind: .privateScheme, path: "/cb", query: "x=1"),
      Parts(text: "com.example.app:/", kind: .privateScheme, path: "/"),
      Parts(
        text: "app.scheme://identity/fallback", kind: .privateScheme, host: "identity", path: "/fallback"),
      Parts(
        text: "https://a.example/%7Euser;v=1,2/@:!$&'()*+=", kind: .https, host: "a.example",
        path: "/%7Euser;v=1,2/@:!$&'()*+="),
      Parts(
        text: "https://a.example/?{x}|^`[]", kind: .https, host: "a.example", path: "/", query: "{x}|^`[]"),
    ])
  func accepted(parts: Parts) throws {
    let url = try StrictURL(parts.text)
    expect(url.kind, is: parts.kind)
    expect(url.hostText, is: parts.host)
    expect(url.port, is: parts.port)
    expect(url.text(url.path), is: parts.path)
    expect(url.query.map { url.text($0) }, is: parts.query)
  }

  @Test("a fragment is dropped unread (R8)")
  func fragment() throws {
    let url = try StrictURL("com.example.app:/cb?a=1#b=\u{0}\\é%zz?c=2#")
    #expect(url.hadFragment)
    expect(url.text, is: "com.example.app:/cb?a=1")
    #expect(!(try StrictURL("com.example.app:/cb").hadFragment))
  }

  @Test(
    "what some reader might take for something else is refused (R9)",
    arguments: [
      ("", StrictURL.Refusal.empty),
      ("foo", .scheme), (":", .scheme), ("//a.example/", .scheme), ("/cb", .scheme), ("1a.b:/c", .scheme),
      ("HTTPS://a.example/", .scheme), ("com..app:/cb", .scheme), ("com.app.:/cb", .scheme),
      (" https://a.b/", .scheme),
      ("javascript:alert(1)", .schemeWithoutDot), ("data:,x", .schemeWithoutDot),
      ("myapp:/cb", .schemeWithoutDot),
      ("file:///etc/passwd", .schemeWithoutDot), ("ftp://a.example/", .schemeWithoutDot),
      ("http://a.example/", .httpBeyondLoopback), ("http://127.0.0.1.example/", .httpBeyondLoopback),
      ("http://localhost.example/", .httpBeyondLoopback), ("http://128.0.0.1/", .httpBeyondLoopback),
      ("https:a.example/", .slashes), ("https:/a.example/", .slashes), ("com.example.app:cb", .slashes),
      ("com.example.app:", .slashes),
      ("https://u@a.example/", .userinfo), ("https://a.example@b.example/", .userinfo),
      ("https://:@a.example/", .userinfo), ("app.scheme://a@identity/", .userinfo),
      ("https:///a.example/", .host), ("com.example.app:///cb", .host), ("https://", .host),
      ("https://:443/", .host),
      ("https://a.example./", .host), ("https://.a.example/", .host), ("https://a..example/", .host),
      ("https://a%2eexample/", .host), ("https://a%2fexample/", .host), ("https://a.example%00/", .host),
      ("https://bücher.example/", .host), ("https://a。example/", .host),
      ("https://-a.example/", .host), ("https://a-.example/", .host), ("https://a\\b.example/", .host),
      ("https://a b.example/", .host), ("https://a\t.example/", .host),
      ("https://0x7f.0.0.1/", .host), ("https://2130706433/", .host), ("https://127.1/", .host),
      ("https://0177.0.0.1/", .host), ("https://1.2.3.256/", .host), ("https://a.0x/", .host),
      ("https://1.2.3.4.5/", .host), ("https://a.1/", .host),
      ("http://[::2]/", .httpBeyondLoopback), ("http://[0::1]/", .host), ("https://[::1/", .host),
      ("https://[]/", .host), ("https://[:]/", .host), ("https://[:1]/", .host), ("https://[1:]/", .host),
      ("https://[1::2::3]/", .host), ("https://[:::]/", .host), ("https://[1:2:3:4:5:6:7]/", .host),
      ("https://[1:2:3:4:5:6:7:8:9]/", .host), ("https://[1:2:3:4::5:6:7:8]/", .host),
      ("https://[12345::]/", .host), ("https://[g::]/", .host), ("https://[::1.2.3]/", .host),
      ("https://[::1.2.3.4]/", .host), ("https://[1:0::]/", .host), ("https://[::0]/", .host),
      ("https://[1:2:3:4:5:6:7::]/", .host), ("https://[2001:db8:0:0:0:0:0:1]/", .host),
      ("https://[01::]/", .host),
      ("https://[1:0:0:4:5:0:7:8]/", .host), ("https://[1:0:0:4:5::8]/", .host),
      ("https://[1::4:0:0:0:0]/", .host), ("https://[1.2.3.4::]/", .host),
      ("https://[fe80::1%25eth0]/", .host),
      ("https://[v1.a]/", .host),
      ("https://[::1]a/", .host),
      ("https://a.example:/", .port), ("https://a.example:0/", .port), ("https://a.example:065/", .port),
      ("https://a.example:65536/", .port), ("https://a.example:8a/", .port), ("https://a.example:+1/", .port),
      ("app.scheme://identity:80/", .port),
      ("https://a.example/.", .dotSegment), ("https://a.example/a/../b", .dotSegment),
      ("https://a.example/%2e%2E/b", .dotSegment), ("com.example.app:/.%2e", .dotSegment),
      ("https://a.example/%", .escape), ("https://a.example/%0", .escape), ("https://a.example/%zz", .escape),
      ("https://a.example/%00", .escape), ("https://a.example/?a=%00", .escape),
      ("https://a.example/?a=%4", .escape),
      ("https://a.example/\\b", .character(0x5C, at: 18)),
      ("https://a.example/a b", .character(0x20, at: 19)),
      ("https://a.example/?a\\b", .character(0x5C, at: 20)),
      ("https://a.example/?\n", .character(0x0A, at: 19)),
      ("https://a.example/é", .character(0xC3, at: 18)), ("https://a.example/?é", .character(0xC3, at: 19)),
      ("https://a.example/?\u{7F}", .character(0x7F, at: 19)),
      ("https://a.example/<", .character(0x3C, at: 18)),
      ("https://a.example/?\"", .character(0x22, at: 19)),
      ("https://a.example/\u{0}", .character(0x00, at: 18)),
    ])
  func refused(text: String, reason: StrictURL.Refusal) {
    expect(refusal(text), is: reason)
  }

  @Test(
    "a host is a name, an IPv4 address or an IPv6 address (RFC 3986 §3.2.2)",
    arguments: [
      "a_b.example", "_a", "10.0.0.1", "[::]", "[::1]", "[::2]", "[2001:db8::1]", "[2001:DB8::1]", "[1::]",
      "[1:2:3:4:5:6:7:8]", "[0:2:3:4:5:6:7:8]", "[1::4:0:0:7:8]", "[1:0:0:4::8]", "[::ffff:a00:1]",
      "[1:2:3:4:5:6::]",
    ])
  func hosts(host: String) throws {
    let url = try StrictURL("https://\(host):8443/a")
    expect(url.hostText, is: host)
    expect(url.port, is: 8443)
    expect(url.isLoopback, is: host == "[::1]")
  }

  @Test("a host of 253 bytes and a label of 63 are the most")
  func hostLengths() {
    let label = String(repeating: "a", count: 63)
    let long = "\(label).\(label).\(label).\(String(repeating: "a", count: 61))"
    expect(refusal("https://\(long)/"), is: nil)
    expect(refusal("https://\(long)a/"), is: .host)
    expect(refusal("https://\(label)a.example/"), is: .host)
  }

  @Test("a URL over the cap is refused before it is read, fragment included")
  func tooLong() {
    let room = StrictURL.maximumBytes - "https://a.example/".utf8.count
    expect(refusal("https://a.example/" + String(repeating: "a", count: room)), is: nil)
    expect(refusal("https://a.example/" + String(repeating: "a", count: room + 1)), is: .tooLong)
    expect(refusal("https://a.example/#" + String(repeating: "a", count: room)), is: .tooLong)
  }

  @Test("a refusal's text holds nothing of the URL (R40)")
  func text() {
    for text in ["https://secret@a.example/", "https://a.example/secret\\", "secret:/", "https://secret$/"] {
      expect(refusal(text)?.text.contains("secret"), is: false)
    }
  }

  @Test(
    "the base is compared byte by byte (R5)",
    arguments: [
      ("https://a.example/cb", true), ("https://a.example/cb?x", true), ("https://a.example/cb/", false),
      ("https://a.example/c", false), ("https://a.example/cb2", false), ("https://a.example:8443/cb", false),
      ("https://A.example/cb", false), ("https://a.example/%63b", false), ("https://b.example/cb", false),
    ])
  func base(text: String, isSame: Bool) throws {
    let sent = try StrictURL("https://a.example/cb")
    try expect(StrictURL(text).hasSameBase(as: sent), is: isSame)
    let isSameButPort = isSame || text.contains(":8443")
    try expect(StrictURL(text).hasSameBase(as: sent, ignoringPort: true), is: isSameButPort)
  }
}
