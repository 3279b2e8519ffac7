@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("What answers in a provider's place signs nobody out (R18, R23, R33, R34)")
struct MiddleboxTests {
  private let clock = FakeClock()
  private let box: Middlebox
  private let configuration: Configuration

  init() throws {
    box = try Middlebox(clock: clock)
    configuration = try Configuration(
      issuer: box.provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
    ) {
      $0.graceSeconds = 600
      $0.requiresConfirmation = false
      $0.allowsLoopbackHTTP = true
    }
    // The provider accepts a used refresh token for a long time, because a renewal whose answer was lost is repeated a
    // minute later, and again much later.
    box.provider.change { settings in
      settings.graceSeconds = 1_000_000_000
      settings.documentHeaders = [HTTPHeader("Cache-Control", "max-age=60")]
      settings.deviceAuthorization = { $0["expires_in"] = .integer(86_400) }
    }
  }

  private func client(_ store: MemoryTokenStore, _ name: String) throws -> Client {
    var options = ClientOptions(configuration: configuration, store: .custom(store))
    options.account = try AccountName(name)
    options.clock = clock
    return try Client(options)
  }

  private func signIn(_ client: Client) throws {
    box.provider.change { $0.lifetime = .integer(3600) }
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    _ = try client.resume(
      box.provider.signIn(at: begun.action.url ?? ""), until: .distantFuture, cancellation: nil)
    // Tokens from now on live so briefly that they have expired when they are requested again.
    box.provider.change { $0.lifetime = .integer(30) }
  }

  /// An engine for a device transaction that the test polls itself.
  private func device(_ store: MemoryTokenStore) -> Engine {
    Engine(
      configuration: configuration, account: .default, platform: Platform(),
      transport: CurlTransport(.init(allowsLoopbackHTTP: true)), store: store, clock: clock,
      random: SystemRandomSource(), observer: Nobody(), exclusion: { Mutex() })
  }

  private final class Nobody: EngineObserver {
    func observe(_ notification: EnrollEvent) {}
  }

  @Test("there are more than sixty answers, each of its own name")
  func count() {
    #expect(MiddleboxAnswer.all.count >= 60)
    expect(Set(MiddleboxAnswer.all.map(\.name)).count, is: MiddleboxAnswer.all.count)
    print(
      "middlebox: \(MiddleboxAnswer.all.count) answers in \(MiddleboxPlace.allCases.count) places,",
      "with a live token and an expired one, twice each")
  }

  @Test(
    "a session outlives every answer, twice a minute apart, and the next good one renews it",
    arguments: MiddleboxPlace.allCases, [true, false])
  func sessions(place: MiddleboxPlace, isLive: Bool) throws {
    var lost: [String] = []
    for answer in MiddleboxAnswer.all {
      if let trouble = try outlive(answer, place, isLive) { lost.append("\(answer.name): \(trouble)") }
    }
    #expect(lost.isEmpty, "\(lost.joined(separator: "\n"))")
  }

  /// - Returns: what was lost.
  private func outlive(_ answer: MiddleboxAnswer, _ place: MiddleboxPlace, _ isLive: Bool) throws -> String? {
    let store = MemoryTokenStore(clock: clock)
    let client = try client(store, "stayer")
    let account = try AccountName("stayer").belonging(to: configuration)
    try signIn(client)
    let leaver = try place == .revocation ? self.client(store, "leaver") : nil
    if let leaver {
      // Another user signs in here, because the tokens of a user who stays signed in are not revoked.
      box.provider.change { $0.subject = "bob" }
      try signIn(leaver)
      box.provider.change { $0.subject = "alice" }
    }
    let device = device(store)
    box.provider.change { $0.deviceError = "authorization_pending" }
    let transaction =
      try place == .device
      ? device.signIn.begin(SignInOptions(kind: .device), cancellation: nil).transactionID : nil
    clock.advance(seconds: isLive ? 3100 : 3700)

    box.answer(answer, at: place)
    defer { box.answer(nil, at: place) }
    for _ in 1...2 {
      if case .reauthenticate(let reason, _) = try client.now() { return "signed out: \(reason)" }
      // A renewal does not request documents that are already known, but another sign-in does.
      if place == .discovery || place == .keys { try? signIn(client) }
      if place == .userinfo { _ = try? client.userinfo(until: .distantFuture, cancellation: nil) }
      if let leaver {
        _ = try? leaver.beginLogout(localOnly: false, until: .distantFuture, cancellation: nil)
      }
      if let transaction {
        _ = try? device.device.pollDevice(transaction)
        let status = try device.transactions.transactionStatus(transaction)
        if status != .pending { return "the device transaction is \(status)" }
      }
      let record = try store.read(account)
      if let reason = record?.sessionEnded { return "ended: \(reason)" }
      if record?.confirmed?.refreshToken == nil { return "no refresh token" }
      clock.advance(seconds: 61)
    }
    if box.visits == 0 { return "nobody met it" }

    box.answer(nil, at: place)
    clock.advance(seconds: 4000)
    let before = try store.read(account)?.tokenEpoch
    guard case .valid = try client.now() else { return "not renewed" }
    if try store.read(account)?.tokenEpoch == before { return "no other tokens" }
    if let transaction {
      box.provider.change { $0.deviceError = nil }
      guard case .succeeded = try device.device.pollDevice(transaction)?.ending else {
        return "the device is not signed in"
      }
    }
    return nil
  }
}
