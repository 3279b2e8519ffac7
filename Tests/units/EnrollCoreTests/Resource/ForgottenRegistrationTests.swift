@testable import EnrollRules
@testable import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("A registered client that its server refused at a renewal is registered anew")
struct ForgottenRegistrationTests {
  private let web = Published.web()
  private let clock = FakeClock()
  private let store: MemoryTokenStore

  init() { store = MemoryTokenStore(clock: clock) }

  private func register(
    _ edit: (inout ResourceRequest) -> Void = { _ in }
  ) throws -> ResourceClient {
    var request = ResourceRequest(
      resource: Published.resource, issuer: Published.issuer, redirectURI: Published.redirect)
    edit(&request)
    return try ResourceRegistrar(
      ResourceDirectory(transport: web, clock: clock, allowsLoopbackHTTP: false), store: store, clock: clock
    ).register(request)
  }

  private func answer(_ clientID: String) {
    web.publish(
      Published.registration, #"{"client_id":"\#(clientID)","token_endpoint_auth_method":"none"}"#,
      status: 201)
  }

  private var registrations: Int { web.requests.count { $0.method == .post } }

  /// Writes the refusal of a renewal into the client's account.
  private func refuse(_ client: ResourceClient, _ code: String = "invalid_client") throws {
    clock.advance(seconds: 60)
    let moment = clock.moment()
    try store.update(AccountName("work").belonging(to: try client.configuration())) {
      $0.refusal = RenewalRefusal(
        pause: Expiry(lifetimeSeconds: 60, from: moment), httpStatus: 401, oauthError: code,
        began: moment.wall)
    }
  }

  @Test("at the next call, and once for each refusal", arguments: ["invalid_client", "unauthorized_client"])
  func once(code: String) throws {
    try refuse(try register(), code)
    answer("id-2")
    let anew = try register()
    #expect(anew.isNew)
    try expect(anew.configuration().clientID, is: ClientID("id-2"))
    try expect(register().keys, is: anew.keys)
    expect(registrations, is: 2)
    try refuse(anew, code)
    answer("id-3")
    try expect(register().configuration().clientID, is: ClientID("id-3"))
  }

  @Test("a server that gives the same client id again is asked once, too")
  func sameID() throws {
    try refuse(try register())
    clock.advance(seconds: 1)
    for isNew in [true, false] { try expect(register().isNew, is: isNew) }
    expect(registrations, is: 2)
  }

  @Test("not after another refusal, nor where another client was refused")
  func others() throws {
    let client = try register()
    try refuse(client, "invalid_scope")
    try refuse(try register { $0.clientID = "mine" })
    try expect(register().keys, is: client.keys)
    expect(registrations, is: 1)
  }

  @Test("a client that the host names stays the one")
  func configured() throws {
    try refuse(try register { $0.clientID = "mine" })
    try expect(register { $0.clientID = "mine" }.configuration().clientID, is: ClientID("mine"))
    expect(registrations, is: 0)
  }

  @Test("while the server cannot be reached the client stays, and is registered anew afterwards")
  func outage() throws {
    let client = try register()
    try refuse(client)
    web.answer(Published.registration) { _ throws(EnrollError) in throw EnrollError(.network, "down") }
    try expect(register().keys, is: client.keys)
    answer("id-2")
    #expect(try register().isNew)
  }
}
