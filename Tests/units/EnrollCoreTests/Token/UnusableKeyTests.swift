@testable import EnrollRules
@testable import EnrollSteps
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

@Suite("A client's key that cannot be used")
struct UnusableKeyTests {
  private static let refusal = EnrollError(.configuration, "the key is missing", field: "clientKeyFile")

  private func bench(_ changes: [(String, JSON?)] = [], pushes: Bool = false) throws -> Bench {
    let bench = try Bench([("dpop", .string("never"))] + changes)
    bench.provider.change { $0.takesPushedRequests = pushes }
    return bench
  }

  private func engine(_ bench: Bench) -> Engine {
    bench.engine(readingKey: { () throws(EnrollError) in throw Self.refusal })
  }

  @Test(
    "no sign-in begins with it, with and without pushed requests",
    arguments: [TransactionKind.signIn, .register, .device], [true, false])
  func begin(kind: TransactionKind, pushes: Bool) throws {
    let bench = try bench(pushes: pushes)
    let error = #expect(throws: EnrollError.self) {
      try engine(bench).signIn.begin(SignInOptions(kind: kind), cancellation: nil)
    }
    #expect(error?.code == .configuration && error?.field == "clientKeyFile")
    #expect(bench.provider.count(.pushed) == 0 && bench.provider.count(.deviceAuthorization) == 0)
    expect(try bench.store.read(.default)?.transactions.count ?? 0, is: 0)
  }

  @Test("a registration at the gateway's page does not begin with it either")
  func page() throws {
    let bench = try bench([
      ("registration", .object([("registrationUri", .string("https://app.example/register"))]))
    ])
    let error = #expect(throws: EnrollError.self) {
      try engine(bench).signIn.begin(SignInOptions(kind: .register), cancellation: nil)
    }
    expect(error?.field, is: "clientKeyFile")
  }

  @Test("a key that stops working before the push ends the sign-in, and the browser does not open")
  func push() throws {
    let bench = try bench(pushes: true)
    let reads = Reads()
    let engine = bench.engine(readingKey: { () throws(EnrollError) in
      guard reads.isFirst() else { throw Self.refusal }
      return try ClientKey(ClientKeyTests.ed25519, id: nil, algorithm: nil, audience: nil)
    })
    let error = #expect(throws: EnrollError.self) {
      try engine.signIn.begin(SignInOptions(), cancellation: nil)
    }
    expect(error?.field, is: "clientKeyFile")
  }

  @Test(
    "the check of the provider names it, with and without pushed requests, before a sign-in and in a session",
    arguments: [true, false], [true, false])
  func check(pushes: Bool, inSession: Bool) throws {
    let bench = try bench(pushes: pushes)
    if inSession { _ = try bench.signedIn() }
    let findings = try engine(bench).providerCheck.checkProvider(cancellation: nil).findings
    let signIn = findings.filter { $0.subject == .signIn }
    expect(signIn.count, is: 1)
    #expect(signIn[0].verdict == .fails && signIn[0].key == "clientKeyFile")
    #expect(signIn[0].text == "the key is missing" && signIn[0].advice != nil)
    #expect(findings.filter { $0.subject == .renewal }.map(\.verdict) == [.fails])
  }

  @Test("the check names it at a provider that does not answer, too")
  func unreachable() throws {
    let bench = try bench()
    bench.provider.change { $0.metadata = { $0["token_endpoint"] = nil } }
    let findings = try engine(bench).providerCheck.checkProvider(cancellation: nil).findings
    #expect(findings.contains { $0.key == "clientKeyFile" && $0.verdict == .fails })
  }

  private final class Reads: @unchecked Sendable {
    private var count = 0

    func isFirst() -> Bool {
      count += 1
      return count == 1
    }
  }
}
