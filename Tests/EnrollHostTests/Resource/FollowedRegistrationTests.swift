import EnrollCore
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("No registration (RFC 7591) is lost")
struct FollowedRegistrationTests {
  /// A resource and its server. The caller gives up while the server registers the client.
  private final class Web: Transport {
    let caller = CancellationFlag()
    let registrations = Guarded(0, by: Mutex())

    func send(
      _ request: HTTPRequest, cancellation: (any Cancellation)?
    ) throws(EnrollError) -> HTTPResponse {
      if request.method == .post {
        registrations.withLock { $0 += 1 }
        caller.cancel()
      }
      // As a transport does that gives a request up.
      if cancellation?.isCancelled ?? false { throw EnrollError(.cancelled, "") }
      let documents = [
        "https://api.example/.well-known/oauth-protected-resource/mcp":
          #"{"resource":"https://api.example/mcp","authorization_servers":["https://id.example"]}"#,
        "https://id.example/.well-known/oauth-authorization-server": """
        {"issuer":"https://id.example","authorization_endpoint":"https://id.example/authorize",\
        "token_endpoint":"https://id.example/token","registration_endpoint":"https://id.example/register",\
        "token_endpoint_auth_methods_supported":["none"],"code_challenge_methods_supported":["S256"]}
        """, "https://id.example/register": #"{"client_id":"id-1"}"#,
      ]
      guard let document = documents[request.url] else { return HTTPResponse(status: 404) }
      return HTTPResponse(status: 200, body: Array(document.utf8))
    }
  }

  private let request = ResourceRequest(
    resource: "https://api.example/mcp", issuer: "https://id.example",
    redirectURI: "com.example.app:/callback")

  @Test("a caller who gives up while a server registers the client leaves it to the next call")
  func late() throws {
    let folder = TestFolder()
    let web = Web()
    let resources = Resources(transport: web, clock: FakeClock())
    _ = try? resources.register(
      request, store: .directory(folder.store), keys: .file, until: .distantFuture, cancellation: web.caller)
    let again = try resources.register(
      request, store: .directory(folder.store), keys: .file, until: .distantFuture, cancellation: nil)
    #expect(!again.isNew)
    expect(web.registrations.withLock { $0 }, is: 1)
  }

  @Test("a full disk says so before the server registers the client")
  func full() throws {
    let folder = TestFolder()
    let web = Web()
    let isFull = Guarded(true, by: Mutex())
    let system = FaultyFileSystem(before: { call in
      call.operation == .allocate && isFull.withLock { $0 } ? .error(ENOSPC) : nil
    })
    let registrar = ResourceRegistrar(
      ResourceDirectory(transport: web, userAgent: "test", clock: FakeClock(), allowsLoopbackHTTP: false),
      store: try folder.open(system: system), clock: FakeClock())
    expect(code { () throws(EnrollError) in _ = try registrar.register(request) }, is: .storeFull)
    expect(web.registrations.withLock { $0 }, is: 0)
    isFull.withLock { $0 = false }
    #expect(try registrar.register(request).isNew)
  }
}
