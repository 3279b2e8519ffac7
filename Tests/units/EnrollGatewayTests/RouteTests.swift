// Tests of the table of routes: which path belongs to which row, which requests are refused, and whether the
// documentation shows the table as it is in the code.

import EnrollRules
import EnrollTesting
import Expectations
import Foundation
import Testing

@testable import EnrollGateway
import EnrollHTTP

@Suite("the routes of the gateway")
struct RouteTests {
  private let table = RouteTable.shared

  private func label(_ path: String) -> String { table.labels[table.place(of: path)] }

  @Test("each path of the table leads to its own rows, and any other path to none")
  func places() {
    for (place, path) in table.paths.enumerated() {
      let filled = path.pattern.text.replacing("{provider}", with: "a-B_9").replacing("{token}", with: "T0.x")
        .replacing("{name}", with: "x.css")
      expect(table.place(of: filled), is: place, "\(filled)")
      #expect(!filled.contains("{"), "the variable part of \(filled) has no meaning")
      for wrong in [
        filled + "/", filled + "/x", filled + "?", "/" + filled, filled.uppercased() + "\u{212A}",
      ] {
        if label(wrong) == "/assets/{name}" || label(wrong).hasSuffix("{token}") { continue }
        expect(label(wrong), is: "other", "\(wrong)")
      }
    }
    expect(Set(table.labels).count, is: table.labels.count)
  }

  @Test(
    "the variable part is one segment: a provider's name, the token of a link, the name of a file",
    arguments: [
      ("/v1/auth/a", "/v1/auth/{provider}", "a"),
      ("/v1/auth/a/callback", "/v1/auth/{provider}/callback", "a"),
      ("/v1/auth/callback", "/v1/auth/{provider}", "callback"),
      ("/v1/auth/callback/callback", "/v1/auth/{provider}/callback", "callback"),
      ("/v1/auth//callback", "other", ""), ("/v1/auth/a.b", "other", ""), ("/v1/auth/a%20b", "other", ""),
      ("/v1/auth/", "other", ""), ("/v1/auth", "other", ""), ("/v1/auth/a/b/callback", "other", ""),
      (
        "/v1/auth/" + String(repeating: "a", count: 64), "/v1/auth/{provider}",
        String(repeating: "a", count: 64)
      ),
      ("/v1/auth/" + String(repeating: "a", count: 65), "other", ""),
      ("/signin/email-sent", "/signin/email-sent", ""), ("/signin/x", "/signin/{token}", "x"),
      ("/welcome/", "other", ""), ("/welcome/a/b", "other", ""),
      ("/welcome/" + String(repeating: "a", count: 257), "other", ""),
      ("/assets/", "/assets/{name}", ""), ("/assets/a/b", "other", ""), ("/x\"y", "other", ""),
      ("", "other", ""),
    ])
  func parts(path: String, label: String, part: String) {
    expect(self.label(path), is: label)
    expect(table[table.place(of: path)]?.pattern.parameter(in: path) ?? "", is: part)
  }

  @Test("the links of e-mails lead to their pages")
  func links() {
    let labels = NewMailLink.Purpose.allCases.map { label($0.path("t")) }
    expect(labels, is: ["/welcome/{token}", "/signin/{token}", "/password/reset/{token}"])
  }

  @Test("a path has each method once, and one audience")
  func rows() {
    for path in table.paths {
      expect(Set(path.routes.map(\.method.name)).count, is: path.routes.count, "\(path.pattern.text)")
      expect(Set(path.routes.map { $0.audience == .users }).count, is: 1, "\(path.pattern.text)")
    }
    expect(Gateway.probePaths, is: ["/livez", "/readyz"])
  }

  @Test("another method is refused with those that the path has, and changes nothing")
  func methods() throws {
    let world = try TestMailing(passwords: true)
    // Routes for notifications are left out, because the test's provider sends no notifications.
    for path in table.paths where path.routes.count == 1 && path.routes[0].exists(world.gateway, "fake") {
      let method = path.routes[0].method
      let target = path.pattern.text.replacing("{provider}", with: "fake").replacing("{token}", with: "t")
        .replacing("{name}", with: "x")
      let answer = world.gateway.answer(WebRequest(method.name == .get ? .post : .get, target))
      expect(answer.status, is: 405, "\(target)")
      expect(answer.header("Allow"), is: method == .get ? "GET, HEAD" : method.name.rawValue, "\(target)")
      let isJSON = answer.header("Content-Type") == "application/json"
      expect(isJSON, is: path.routes[0].audience == .programs, "\(target)")
    }
    let answer = world.gateway.answer(WebRequest(.post, "/v1/auth/fake/callback"))
    expect(answer.status, is: 405)
    expect(answer.header("Allow"), is: "GET")
  }

  @Test(
    "each method that a path does not have gets the same `Allow`: the methods of this path (RFC 9110 §10.2.1)"
  )
  func allowed() throws {
    let world = try TestMailing(passwords: true)
    for path in table.paths {
      let target = path.pattern.text.replacing("{provider}", with: "fake").replacing("{token}", with: "t")
        .replacing("{name}", with: "x")
      // Some routes do not exist here, because the test's provider neither answers by form nor sends notifications.
      let routes = path.routes.filter { $0.exists(world.gateway, "fake") }
      guard !routes.isEmpty else {
        expect(world.gateway.answer(WebRequest(.get, target)).status, is: 404, "\(target)")
        continue
      }
      let own = routes.map(\.method.allowed).joined(separator: ", ")
      for method in WebRequest.Method.allCases where !routes.contains(where: { $0.method.name == method }) {
        let answer = world.gateway.answer(WebRequest(method, target))
        expect(answer.status, is: 405, "\(method) \(target)")
        expect(answer.header("Allow"), is: own, "\(method) \(target)")
        let isJSON = answer.header("Content-Type") == "application/json"
        expect(isJSON, is: routes[0].audience == .programs, "\(method) \(target)")
      }
    }
    expect(world.gateway.answer(WebRequest(.put, "/signin")).header("Allow"), is: "GET, HEAD, POST")
  }

  @Test(
    "a path that does not exist has no methods: a provider that is not configured, a page without registration"
  )
  func absent() throws {
    let world = try TestGateway()
    for path in table.paths where path.pattern.part == .provider {
      let target = path.pattern.text.replacing("{provider}", with: "nope")
      for method in WebRequest.Method.allCases {
        let answer = world.gateway.answer(WebRequest(method, target))
        expect(answer.status, is: 404, "\(method) \(target)")
        expect(answer.header("Allow"), is: nil, "\(method) \(target)")
      }
    }
    expect(world.gateway.answer(WebRequest(.put, "/register")).status, is: 404)
    expect(world.gateway.answer(WebRequest(.post, "/register/email-sent")).status, is: 404)
    expect(world.gateway.answer(WebRequest(.put, "/v1/auth/email")).status, is: 404)
  }

  @Test(
    "docs/gateway/app.md has every endpoint that the table documents, and every endpoint for programs is documented"
  )
  func page() throws {
    for route in Route.all where route.audience == .programs {
      expect(route.about, isNot: nil, "\(route.path) has no words about it")
    }
    let page = Repository.top.appendingPathComponent("docs/gateway/app.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    var drawn = text
    let start = try #require(drawn.range(of: "<!-- endpoints -->\n"))
    let end = try #require(drawn.range(of: "<!-- end of endpoints -->"))
    let rows = Route.all.compactMap { route in
      route.about.map { about in
        let linked = about.replacing("(docs/gateway/", with: "(").replacing("(docs/", with: "(../")
        return "| `\(route.method.name.rawValue) \(route.path)` | \(linked) |\n"
      }
    }
    drawn.replaceSubrange(
      start.upperBound..<end.lowerBound, with: "| endpoint | purpose |\n| --- | --- |\n" + rows.joined())
    if ProcessInfo.processInfo.environment["ENROLL_WRITE_DOCS"] == "1" {
      try drawn.write(to: page, atomically: true, encoding: .utf8)
    }
    expect(text, is: drawn, "run with ENROLL_WRITE_DOCS=1 and look at the difference")
  }
}
