@testable import EnrollHost
import EnrollRules
import EnrollSteps
import EnrollPosix
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite("The port of a redirect is bound before a server hears of it")
struct ReservedPortTests {
  private let folder = TestFolder()
  /// A listener that keeps the port busy, as another program would.
  private let port: LoopbackListener

  init() throws { port = try LoopbackListener(redirectURI: "http://127.0.0.1/callback") }

  private func register(
    at web: RegisteringWeb, _ edit: (inout ResourceRequest) -> Void = { _ in }
  ) throws(EnrollError) -> ResourceClient {
    var request = ResourceRequest(
      resource: "https://api.example/mcp", issuer: "https://id.example", redirectURI: port.redirectURI)
    edit(&request)
    return try Resources(transport: web, clock: FakeClock()).register(
      request, store: .directory(folder.store), keys: .file, until: .distantFuture, cancellation: nil)
  }

  private static func refusal(_ body: () throws(EnrollError) -> Void) -> EnrollError? {
    do throws(EnrollError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test("nothing is registered for a port that another program has, and the error names it")
  func taken() throws {
    let web = RegisteringWeb()
    let error = try #require(Self.refusal { () throws(EnrollError) in _ = try register(at: web) })
    expect(error.code, is: .busy)
    expect(error.field, is: "redirectUri")
    let number = try #require(URLComponents(string: port.redirectURI)?.port)
    #expect(error.message.contains("127.0.0.1:\(number) is taken by another program: end that program"))
    expect(web.registrations, is: 0)
    port.close()
    #expect(try register(at: web).isNew)
  }

  @Test("the port is bound while the server registers the client, and free afterwards")
  func held() throws {
    port.close()
    let uri = port.redirectURI
    let codes = Guarded<[EnrollError.Code?]>([], by: Mutex())
    let attempt: @Sendable () -> Void = {
      let code = Self.refusal { () throws(EnrollError) in
        try LoopbackListener(redirectURI: uri).close()
      }?.code
      codes.withLock { $0.append(code) }
    }
    _ = try register(at: RegisteringWeb(meanwhile: attempt))
    attempt()
    expect(codes.withLock { $0 }, is: [.busy, nil])
  }

  @Test("a host that listens itself says so")
  func own() throws {
    #expect(try register(at: RegisteringWeb()) { $0.holdsPort = true }.isNew)
  }

  @Test("a client that is registered already may have a sign-in that listens there")
  func known() throws {
    let web = RegisteringWeb()
    port.close()
    _ = try register(at: web)
    let other = try LoopbackListener(redirectURI: port.redirectURI)
    defer { other.close() }
    #expect(try !register(at: web).isNew)
    #expect(try register(at: web) { $0.again = true }.isNew)
  }

  @Test(
    "a redirect that names no port is not tried",
    arguments: ["http://127.0.0.1/callback", "com.example.app:/cb"])
  func portless(redirectURI: String) throws {
    #expect(try register(at: RegisteringWeb()) { $0.redirectURI = redirectURI }.isNew)
  }
}
