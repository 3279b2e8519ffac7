import EnrollRules
import EnrollTesting
import Expectations
import Testing

@Suite("Freshness of documents (RFC 9111 §4.2)")
struct CacheControlTests {
  static let values: [([String], Int64)] = [
    ([], 3600), (["max-age=600"], 600), (["public, Max-Age=600 , must-revalidate"], 600),
    (["max-age=0"], 60), (["max-age=5"], 60), (["max-age=99999999999999999999999"], 86_400),
    (["max-age=-1"], 60), (["max-age=\"600\""], 60), (["max-age=abc"], 60), (["max-age="], 60),
    (["no-store"], 60), (["max-age=600, no-cache"], 60), (["public", "max-age=700"], 700),
    (["max-age=700, max-age=600"], 600), (["s-maxage=700"], 3600), (["max-age"], 3600), ([","], 3600),
  ]

  @Test("max-age less Age, within bounds", arguments: values)
  func maxAge(values: [String], seconds: Int64) {
    let headers = values.map { HTTPHeader("cache-control", $0) }
    expect(CacheControl.freshSeconds(of: HTTPResponse(status: 200, headers: headers)), is: seconds)
  }

  static let ages: [(String, Int64)] = [("100", 500), ("600", 60), ("9999", 60), ("x", 600)]

  @Test("a cache on the way used up a part", arguments: ages)
  func age(age: String, seconds: Int64) {
    let headers = [HTTPHeader("Cache-Control", "max-age=600"), HTTPHeader("Age", age)]
    expect(CacheControl.freshSeconds(of: HTTPResponse(status: 200, headers: headers)), is: seconds)
  }
}

@Suite("Retry-After (RFC 9110 §10.2.3)")
struct RetryAfterTests {
  static let values: [(String, Int64?)] = [
    ("7", 7), ("3600", 3600), ("3601", 3600), ("99999999999999999999", 3600), ("0", nil), ("-1", nil),
    ("", nil), ("soon", nil), ("1.5", nil), (" 7", nil), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
    ("Sunday, 06-Nov-94 08:49:47 GMT", 10), ("Sun Nov  6 08:49:47 1994", 10),
    (String(repeating: "9", count: 400), 3600), (String(repeating: "9", count: 400) + "x", nil),
    ("Sun, 06 Nov 1994 08:49:37 GMT", nil), ("Mon, 07 Nov 1994 08:49:37 GMT", 3600),
  ]

  @Test("seconds or a date, capped (R33)", arguments: values)
  func reading(text: String, seconds: Int64?) {
    let headers = [HTTPHeader("Retry-After", text), HTTPHeader("Date", "Sun, 06 Nov 1994 08:49:37 GMT")]
    expect(RetryAfter.seconds(of: HTTPResponse(status: 503, headers: headers)), is: seconds)
  }

  @Test("X-Retry-After counts where there is no Retry-After")
  func other() {
    let other = HTTPHeader("X-Retry-After", "42")
    expect(RetryAfter.seconds(of: HTTPResponse(status: 429, headers: [other])), is: 42)
    let both = [other, HTTPHeader("Retry-After", "7")]
    expect(RetryAfter.seconds(of: HTTPResponse(status: 429, headers: both)), is: 7)
  }

  @Test("a date counts from this machine's clock where the server tells no time")
  func noDate() throws {
    let bench = try Bench()
    let engine = try bench.signedIn()
    bench.clock.setWall(784_111_777)
    bench.clock.advance(seconds: 3700)
    // The date in the header is 40 seconds after the time that the clock now shows.
    let headers = [HTTPHeader("Retry-After", "Sun, 06 Nov 1994 09:51:57 GMT")]
    bench.provider.next(.token, .status(503, headers: headers))
    guard case .expired(_, let seconds, _) = try engine.access() else {
      throw Unexpected(what: "not expired")
    }
    #expect((40...44).contains(seconds ?? 0), "\(String(describing: seconds))")
  }
}
