// A browser for tests: real HTTP, cookies, no automatic redirects, and forms parsed from pages.

import EnrollCrypto
import EnrollJSON
import EnrollSandbox
import Foundation
import FoundationNetworking

/// A response as it was received.
struct Reply {
  var status: Int
  var headers: [String: String]
  var body: Data

  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JSON { (try? JSON.parse(Array(body))) ?? .null }
  var location: String? { headers["location"] }

  /// The parameters of the redirect.
  var parameters: [String: String] {
    let items = location.flatMap { URLComponents(string: $0) }?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
  }

  /// The name and the value of every hidden field.
  var hiddenFields: [(String, String)] {
    text.components(separatedBy: "<input type=\"hidden\" ").dropFirst().map { part in
      let name = part.components(separatedBy: "\"")
      return (name[1], name[3])
    }
  }
}

final class TestBrowser {
  let issuer: String
  var cookies: [String: String] = [:]

  init(_ issuer: String) { self.issuer = issuer }

  func get(_ path: String, headers: [String: String] = [:]) async throws -> Reply {
    try await send("GET", path, headers: headers)
  }

  func post(
    _ path: String, _ fields: [(String, String)], headers: [String: String] = [:]
  ) async throws -> Reply {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-._~")
    let body = fields.map { name, value in
      name + "=" + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
    }.joined(separator: "&")
    let type = ["Content-Type": "application/x-www-form-urlencoded"]
    return try await send("POST", path, headers: type.merging(headers) { $1 }, body: Data(body.utf8))
  }

  func send(
    _ method: String, _ path: String, headers: [String: String] = [:], body: Data? = nil
  ) async throws -> Reply {
    let address = path.hasPrefix("http") ? path : issuer + path
    guard let url = URL(string: address) else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.httpBody = body
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    if !cookies.isEmpty {
      let line = cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
      request.setValue(line, forHTTPHeaderField: "Cookie")
    }
    // Each request has its own session: on a reused connection that died, libcurl would send a POST again.
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    let session = URLSession(configuration: configuration, delegate: NoRedirect(), delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let (data, response) = try await session.data(for: request)
    guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    var names: [String: String] = [:]
    for (name, value) in http.allHeaderFields {
      names["\(name)".lowercased()] = "\(value)"
    }
    if let cookie = names["set-cookie"]?.split(separator: ";").first?.split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    {
      cookies[String(cookie[0])] = String(cookie[1])
    }
    return Reply(status: http.statusCode, headers: names, body: data)
  }

  /// Sends an authorize request and follows the redirects on this site. Returns the page, or the redirect to
  /// the app if there is no page.
  func open(_ path: String) async throws -> Reply {
    var reply = try await get(path)
    while let location = reply.location, location.hasPrefix("/") { reply = try await get(location) }
    return reply
  }

  /// Sends a page's form, then follows the redirects on this site.
  func submit(_ page: Reply, _ fields: [(String, String)]) async throws -> Reply {
    var reply = try await post("/interaction", page.hiddenFields + fields)
    while let location = reply.location, location.hasPrefix("/") { reply = try await get(location) }
    return reply
  }

  /// Signs in on the page and consents to everything; returns the redirect to the app.
  func signIn(_ page: Reply, user: String = "alice", code: String? = nil) async throws -> Reply {
    var fields = [("username", user), ("password", user + "-password"), ("action", "continue")]
    if let code { fields.append(("code", code)) }
    let next = try await submit(page, fields)
    return next.text.contains("value=\"consent\"") ? try await submit(next, [("action", "continue")]) : next
  }
}

private final class NoRedirect: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) { completionHandler(nil) }
}
