@testable import EnrollPosix
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollTesting
import Expectations
import Foundation
import Testing

@Suite("A token endpoint whose TLS is wrong during a renewal (R19, R33)")
struct RenewalTLSTests {
  enum Fault: String, CaseIterable {
    case expired, otherHost, selfSigned, plain, silent, closedInHandshake, resetInHandshake, cutAfterHandshake

    /// Whether the fault is permanent, so that a second try of the same renewal cannot help.
    var isFinal: Bool { [.expired, .otherHost, .selfSigned, .plain].contains(self) }
  }

  /// One server for each certificate, shared by all tests. The servers end with this process.
  private struct Servers {
    let certificates: Certificates
    let ports: [Certificates.Kind: Int]
    private let running: [TLSServer]

    static let shared = Result { try Servers() }

    private init() throws {
      certificates = try Certificates.shared.get()
      let tokens =
        #"{"access_token":"access-2","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-2"}"#
      var ports: [Certificates.Kind: Int] = [:]
      var running: [TLSServer] = []
      for kind in [Certificates.Kind.good, .expired, .otherHost, .stranger] {
        running.append(try TLSServer(certificates, kind, answering: tokens))
        ports[kind] = running.last?.port
      }
      (self.ports, self.running) = (ports, running)
    }
  }

  /// A port that passes each connection on to the server that the fault selects, or breaks the connection
  /// itself.
  private final class Front: Sendable {
    private let servers: Servers
    private let fault = Guarded<Fault?>(nil, by: Mutex())
    private let front: Guarded<RawServer?> = Guarded(nil, by: Mutex())

    init() throws {
      servers = try Servers.shared.get()
      let made = try RawServer { [weak self] in self?.serve($0) }
      front.withLock { $0 = made }
    }

    var url: String { "https://127.0.0.1:\(front.withLock { $0 }?.port ?? 0)/token" }
    var visits: Int { front.withLock { $0 }?.accepted ?? 0 }
    var authority: String { servers.certificates.authority }
    func misbehave(_ fault: Fault?) { self.fault.withLock { $0 = fault } }

    private func serve(_ connection: RawConnection) {
      var byte: UInt8 = 0
      switch fault.withLock({ $0 }) {
      case nil: relay(connection, .good)
      case .expired: relay(connection, .expired)
      case .otherHost: relay(connection, .otherHost)
      case .selfSigned: relay(connection, .stranger)
      case .plain:
        connection.send("HTTP/1.1 200 OK\r\n\r\n{}")
        connection.waitForClose()
      case .silent: connection.waitForClose()
      case .closedInHandshake: _ = recv(connection.descriptor, &byte, 1, 0)
      case .resetInHandshake:
        _ = recv(connection.descriptor, &byte, 1, 0)
        connection.reset()
      // Passes on only the bytes that the server sends before it gets the request.
      case .cutAfterHandshake: connection.relay(to: servers.ports[.good] ?? 0, limit: 1_100)
      }
    }

    private func relay(_ connection: RawConnection, _ kind: Certificates.Kind) {
      connection.relay(to: servers.ports[kind] ?? 0)
    }
  }

  @Test(
    "a live token is served, an expired one is kept, nobody is signed out, and then all is well",
    arguments: Fault.allCases, [true, false])
  func fault(_ fault: Fault, isLive: Bool) throws {
    let front = try Front()
    let stage = try RenewalStage(tokenEndpoint: front.url, caFile: front.authority)
    front.misbehave(fault)
    stage.clock.advance(seconds: isLive ? 3550 : 3700)
    let client = try stage.client(milliseconds: fault == .silent ? 200 : 30_000)
    for _ in 1...25 {
      switch try client.now() {
      case .stale(let token, _) where isLive: expect(token.value, is: Secret("access-1"))
      case .expired where !isLive: break
      case let other: throw Unmet(what: "\(other)")
      }
    }
    expect(front.visits, is: fault.isFinal ? 1 : 2)
    front.misbehave(nil)
    stage.clock.advance(seconds: 4000)
    guard case .valid(let token) = try stage.client().now() else { throw Unmet(what: "not valid") }
    expect(token.value, is: Secret("access-2"))
  }
}
