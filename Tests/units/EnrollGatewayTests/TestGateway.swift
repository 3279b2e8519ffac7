// A gateway with a provider in memory, an app, a fake clock, and a store in its own file; and a browser that
// keeps its cookies as browsers do.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollGatewayStore
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Foundation
import Testing

@testable import EnrollGateway
import EnrollHTTP

/// Keeps the lines of the log.
final class Lines: LogHandler {
  let level = LogLevel.debug
  private let lines = Guarded<[String]>([], by: Mutex())

  func write(_ level: LogLevel, _ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

/// Keeps mails as they are posted.
final class Mails: Mailer {
  private let mails = Guarded<[AccountMail]>([], by: Mutex())

  func post(_ mail: AccountMail) { mails.withLock { $0.append(mail) } }
  var all: [AccountMail] { mails.withLock { $0 } }
}

final class TestGateway {
  let mails = Mails()
  let clock = FakeClock()
  let provider: FakeProvider
  let gateway: Gateway
  let store: SQLiteStore
  let log = Lines()
  private let folder: URL

  static let origin = "https://gateway.example"

  static func settings(_ more: [(String, JSON)] = []) throws -> GatewaySettings {
    var object = JSONObject([
      ("publicUrl", .string(origin)), ("database", .string("sqlite:unused")), ("keys", .string("unused")),
      ("returnTo", .array([.string("https://app.example/welcome")])),
      (
        "providers",
        .object([
          (
            "fake",
            .object([
              ("label", .string("Fake")), ("issuer", .string("https://id.example")),
              ("clientId", .string("gateway")), ("clientSecret", .string("a gateway's own secret")),
            ])
          )
        ])
      ),
      (
        "apps",
        .object([
          (
            "sample",
            .object([
              ("title", .string("Sample")),
              (
                "redirectUris",
                .array([.string("com.example.app:/callback"), .string("http://127.0.0.1/callback")])
              ),
            ])
          )
        ])
      ),
    ])
    for (key, value) in more { object[key] = value }
    return try GatewaySettings(json: .object(object))
  }

  /// A key ring with a different key than ``ring(_:)``.
  static func otherRing(_ clock: FakeClock) throws -> KeyRing { try ring(clock, id: "two", of: 8) }

  static func ring(_ clock: FakeClock, id: String = "one", of byte: UInt8 = 7) throws -> KeyRing {
    try KeyRing(
      json: .object([
        (
          "keys",
          .array([
            .object([
              ("id", .string(id)), ("created", .integer(clock.wallTime().seconds - 200_000)),
              ("secret", .string(Base64URL.encode([UInt8](repeating: byte, count: 32)))),
            ])
          ])
        )
      ]))
  }

  /// - Parameter makeTransport: makes a transport that replaces the provider in memory.
  init(
    _ more: [(String, JSON)] = [], makeTransport: ((FakeClock) throws -> any Transport)? = nil
  ) throws {
    let settings = try Self.settings(more)
    let (clock, provider) = (clock, try FakeProvider(clock: clock))
    self.provider = provider
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("gateway-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try SQLiteStore(path: folder.appendingPathComponent("gateway.db").path)
    _ = try store.migrate()
    let transport = try makeTransport?(clock) ?? provider
    let threads = ProviderThreads(Mutex())
    let providers = settings.providers.map { told in
      SignInProvider(
        name: told.name, label: told.label, configuration: told.configuration, dialect: told.dialect,
        transport: transport, clock: clock, random: SystemRandomSource(),
        threads: threads, makeStore: { MemoryTokenStore(clock: clock) },
        makeLock: { Mutex() })
    }
    gateway = Gateway(
      settings: settings, keys: try Self.ring(clock), store: store, providers: providers,
      pages: Pages(theme: try Theme(product: "Test"), languages: try Languages()), clock: clock,
      random: SystemRandomSource(), log: log, mailer: mails, makeLock: { Mutex() })
  }

  deinit {
    store.close()
    try? FileManager.default.removeItem(at: folder)
  }
}

/// A browser that visits the gateway. Its cookies are its only state.
final class TestBrowser {
  var cookies: [(name: String, value: String)] = []
  let gateway: Gateway

  /// The client's address.
  let client: String

  init(_ gateway: Gateway, client: String = "192.0.2.7") {
    self.gateway = gateway
    self.client = client
  }

  @discardableResult
  func get(_ target: String, headers: [HTTPHeader] = []) -> WebResponse { send(.get, target, headers) }

  func head(_ target: String) -> WebResponse { send(.get, target, [], isHead: true) }

  func post(_ target: String, form: [(String, String)], headers: [HTTPHeader] = []) -> WebResponse {
    send(
      .post, target, [HTTPHeader("Content-Type", FormEncoding.contentType)] + headers,
      FormEncoding.encode(form))
  }

  private func send(
    _ method: WebRequest.Method, _ target: String, _ headers: [HTTPHeader], _ body: [UInt8] = [],
    isHead: Bool = false
  ) -> WebResponse {
    let parts = target.split(separator: "?", maxSplits: 1)
    var headers = headers + [HTTPHeader("User-Agent", "Test/1")]
    if !cookies.isEmpty {
      headers.append(
        HTTPHeader("Cookie", cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")))
    }
    var request = WebRequest(
      method, String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil, headers: headers,
      body: body, client: client)
    request.isHead = isHead
    let response = gateway.answer(request)
    for header in response.headers where header.name == "Set-Cookie" { keep(header.value) }
    return response
  }

  private func keep(_ text: String) {
    let pair = text.split(separator: ";")[0].split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(pair[0])
    cookies.removeAll { $0.name == name }
    if !text.contains("Max-Age=0;") { cookies.append((name, String(pair[1]))) }
  }

  /// Follows the redirect to the provider, where the user consents, and returns.
  func comeBack(from start: WebResponse, by provider: FakeProvider, extra: String = "") -> WebResponse {
    get(callback(from: start, by: provider, extra: extra))
  }

  /// The URL of the callback.
  func callback(from start: WebResponse, by provider: FakeProvider, extra: String = "") -> String {
    // A form's answer is a page that continues to the provider by itself (`Refresh`).
    let next = start.header("Refresh").map { String($0.dropFirst("0;url=".count)) }
    let back = provider.signIn(at: start.header("Location") ?? next ?? "", extra: extra)
    return String(back.dropFirst(TestGateway.origin.count))
  }
}

func text(_ response: WebResponse) -> String { String(decoding: response.body, as: UTF8.self) }

func parameter(_ name: String, of url: String) -> String? {
  URLComponents(string: url)?.queryItems?.first { $0.name == name }?.value
}
