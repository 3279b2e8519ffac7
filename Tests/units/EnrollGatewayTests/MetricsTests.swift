// The metrics: each event is counted in the right metric, no request can create a label, the text has the
// right format, and the documentation has every metric.

import EnrollRules
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import Testing

@testable import EnrollGateway

@Suite("the metrics of the gateway")
struct MetricsTests {
  private func shown(_ world: TestGateway) -> [String] {
    text(world.gateway.metricsAnswer(with: [])).split(separator: "\n").map { String($0) }
  }

  @Test("requests, sign-ins and sessions are counted")
  func counts() throws {
    let world = try TestGateway()
    let browser = TestBrowser(world.gateway)
    _ = browser.comeBack(from: browser.get("/v1/auth/fake"), by: world.provider)
    _ = browser.get("/nowhere")
    world.provider.change { $0.subject = "somebody else" }
    _ = browser.get("/v1/auth/fake/callback?state=unknown&error=access_denied")
    let lines = shown(world)
    for line in [
      #"enroll_gateway_requests_total{route="/v1/auth/{provider}",status="3xx"} 1"#,
      #"enroll_gateway_requests_total{route="other",status="4xx"} 1"#,
      #"enroll_gateway_sign_ins_total{provider="fake",outcome="registered"} 1"#,
      #"enroll_gateway_sign_ins_total{provider="fake",outcome="signed_in"} 0"#,
      #"enroll_gateway_keys 1"#, #"enroll_gateway_key_age_seconds{key="oldest"} 200000"#,
      #"enroll_gateway_database_up 0"#,
    ] {
      #expect(lines.contains(line), "\(line)")
    }
  }

  @Test("a limit that refuses is counted by its name")
  func limits() throws {
    let rule = JSON.object([("start", .object([("requests", .integer(1)), ("seconds", .integer(60))]))])
    let world = try TestGateway([("limits", rule)])
    let browser = TestBrowser(world.gateway)
    for _ in 0..<3 { browser.get("/v1/auth/fake") }
    let lines = shown(world)
    #expect(lines.contains(#"enroll_gateway_limits_total{limit="start"} 2"#))
    #expect(lines.contains(#"enroll_gateway_limits_total{limit="mailPerPerson"} 0"#))
    // Each limit in the metrics is in the configuration, and each limit in the configuration is counted.
    let named = lines.filter { $0.hasPrefix("enroll_gateway_limits_total{") }.compactMap {
      $0.split(separator: "\"").dropFirst().first.map { String($0) }
    }
    expect(named, is: LimitRules.keys.map(\.name))
  }

  @Test("what strangers send makes no line more")
  func bounded() throws {
    let world = try TestGateway()
    let browser = TestBrowser(world.gateway)
    for path in ["/a", "/v1/auth/fake", "/v1/auth/nobody", "/assets/x"] { browser.get(path) }
    let before = shown(world).count
    for number in 0..<50 {
      for path in ["/a\(number)", "/v1/auth/p\(number)", "/assets/x\(number)"] { browser.get(path) }
    }
    expect(shown(world).count, is: before)
  }

  @Test("text of labels is escaped, and a histogram counts upwards")
  func format() {
    var text = MetricsText()
    text.write(.build, [MetricSample(.build, ["a\"b\\c\nd"], 1)])
    let histogram = Histogram(.databaseSeconds)
    for nanoseconds in [500_000, 20_000_000, 20_000_000, 60_000_000_000] as [Int64] {
      histogram.add(nanoseconds: nanoseconds)
    }
    text.write(.databaseSeconds, [histogram])
    let lines = text.text.split(separator: "\n").map { String($0) }
    #expect(lines.contains(#"enroll_gateway_build_info{version="a\"b\\c\nd"} 1"#))
    let name = "enroll_gateway_database_call_duration_seconds"
    #expect(lines.contains("\(name)_bucket{le=\"0.001\"} 1"))
    #expect(lines.contains("\(name)_bucket{le=\"0.025\"} 3"))
    #expect(lines.contains("\(name)_bucket{le=\"10\"} 3"))
    #expect(lines.contains("\(name)_bucket{le=\"+Inf\"} 4"))
    #expect(lines.contains("\(name)_count 4"))
    #expect(lines.contains("\(name)_sum 60.0405"))
  }

  @Test("docs/gateway/operating.md has every metric, as the code has it")
  func page() throws {
    let page = Repository.top.appendingPathComponent("docs/gateway/operating.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    var drawn = text
    let start = try #require(drawn.range(of: "<!-- metrics -->\n"))
    let end = try #require(drawn.range(of: "<!-- end of metrics -->"))
    let rows = Metric.allCases.map { metric in
      let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
      return "| `\(metric.rawValue)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |\n"
    }
    drawn.replaceSubrange(
      start.upperBound..<end.lowerBound,
      with: "| metric | kind | labels | meaning |\n| --- | --- | --- | --- |\n" + rows.joined())
    if ProcessInfo.processInfo.environment["ENROLL_WRITE_DOCS"] == "1" {
      try drawn.write(to: page, atomically: true, encoding: .utf8)
    }
    expect(text, is: drawn, "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }
}
