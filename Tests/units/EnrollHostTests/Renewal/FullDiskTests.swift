// Tests of renewals on a disk that is full, or fills up.

import EnrollHost
import EnrollRules
import EnrollSteps
import EnrollStore
import EnrollTesting
import Expectations
import StoreSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FullDiskTests {
  /// A transport that fills a disk while a renewal is in progress.
  private final class FillingTransport: Transport {
    private let provider: FakeProvider
    private let disk: SmallDisk

    init(_ provider: FakeProvider, _ disk: SmallDisk) {
      self.provider = provider
      self.disk = disk
    }

    func send(
      _ request: HTTPRequest, cancellation: (any Cancellation)?
    ) throws(EnrollError) -> HTTPResponse {
      let response = try provider.send(request, cancellation: cancellation)
      if String(decoding: request.body, as: UTF8.self).contains("grant_type=refresh_token") { disk.fill() }
      return response
    }
  }

  @Test(
    "a disk that is full before a renewal costs no refresh token; one that fills up during it costs nothing",
    .enabled(if: SmallDisk.isPossible, Comment(rawValue: SmallDisk.wanted)))
  func renewal() throws {
    let disk = try SmallDisk()
    let clock = FakeClock()
    let provider = try FakeProvider(clock: clock)
    var options = ClientOptions(
      configuration: try Configuration(
        issuer: provider.issuer, clientID: "native", redirectURI: "com.example.app:/callback"
      ) {
        $0.requiresConfirmation = false
      }, store: .custom(try FileTokenStore(path: disk.store, clock: clock)))
    options.transport = FillingTransport(provider, disk)
    options.clock = clock
    let client = try Client(options)
    let begun = try client.begin(SignInOptions(), until: .distantFuture, cancellation: nil)
    guard case .openURL(let url) = begun.action else { throw EnrollError(.internal, "no URL") }
    _ = try client.resume(provider.signIn(at: url), until: .distantFuture, cancellation: nil)
    let asked = provider.count(.token)
    let ask = { () throws(EnrollError) in
      try client.access(minimumLifetimeSeconds: 0, until: .distantFuture, cancellation: nil)
    }

    clock.advance(seconds: 3550)
    disk.fill()
    guard case .stale(_, let reason) = try ask(), reason.code == .storeFull else {
      Issue.record("the live token is served, and the reason told")
      return
    }
    clock.advance(seconds: 3600)
    expect(code { () throws(EnrollError) in _ = try ask() }, is: .storeFull)
    expect(provider.count(.token), is: asked, "no refresh token was spent")

    disk.free()
    let renewed = try ask().token().value
    expect(provider.count(.token), is: asked + 1)
    #expect(disk.isFilled)
    let store = try FileTokenStore(path: disk.store, clock: clock)
    let account = try #require(try store.accounts().first)
    try expect(store.read(account)?.confirmed?.accessToken, is: renewed, "on a disk that is full by now")
  }
}
