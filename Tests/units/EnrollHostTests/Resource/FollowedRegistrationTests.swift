import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite("No registration (RFC 7591) is lost")
struct FollowedRegistrationTests {
  private let request = ResourceRequest(
    resource: "https://api.example/mcp", issuer: "https://id.example",
    redirectURI: "com.example.app:/callback")

  @Test("a caller who gives up while a server registers the client leaves it to the next call")
  func late() throws {
    let folder = TestFolder()
    let caller = CancellationFlag()
    let web = RegisteringWeb { caller.cancel() }
    let resources = Resources(transport: web, clock: FakeClock())
    _ = try? resources.register(
      request, store: .directory(folder.store), keys: .file, until: .distantFuture, cancellation: caller)
    let again = try resources.register(
      request, store: .directory(folder.store), keys: .file, until: .distantFuture, cancellation: nil)
    #expect(!again.isNew)
    expect(web.registrations, is: 1)
  }

  @Test("a full disk says so before the server registers the client")
  func full() throws {
    let folder = TestFolder()
    let web = RegisteringWeb()
    let isFull = Guarded(true, by: Mutex())
    let system = FaultyFileSystem(before: { call in
      call.operation == .allocate && isFull.withLock { $0 } ? .error(ENOSPC) : nil
    })
    let registrar = ResourceRegistrar(
      ResourceDirectory(transport: web, userAgent: "test", clock: FakeClock(), allowsLoopbackHTTP: false),
      store: try folder.open(system: system), clock: FakeClock())
    expect(code { () throws(EnrollError) in _ = try registrar.register(request) }, is: .storeFull)
    expect(web.registrations, is: 0)
    isFull.withLock { $0 = false }
    #expect(try registrar.register(request).isNew)
  }
}
