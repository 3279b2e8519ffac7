import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollStore
import EnrollTesting
import Expectations
import Testing

extension Engine {
  /// The transaction of the current question.
  func questionShown() throws -> TransactionID? {
    guard case .known(.awaitingConfirmation(let transactionID, _)) = try registration.adoptStoredState()
    else {
      return nil
    }
    return transactionID
  }
}

@Suite("The question and its answer (flows.md §7, G)")
struct QuestionTests {
  /// The user signs in at the provider, and this process receives the redirect.
  @discardableResult
  private func signIn(_ user: String, _ engine: Engine, _ bench: Bench) throws -> TransactionID {
    bench.provider.change { $0.subject = user }
    let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    _ = try engine.signIn.resume(bench.provider.signIn(at: begun.url), cancellation: nil)
    return begun.transactionID
  }

  /// Alice has a session, and Bob's sign-in waits for confirmation.
  private func besideAlice() throws -> (Bench, Engine) {
    let bench = try Bench(requiresConfirmation: true)
    let engine = bench.engine()
    try signIn("alice", engine, bench)
    _ = try engine.registration.confirm()
    try signIn("bob", engine, bench)
    return (bench, engine)
  }

  @Test("beside a session every answer is about its user, and the sign-in that waits is a member of its own")
  func besideSession() throws {
    let (bench, engine) = try besideAlice()
    let read = try engine.registration.readAccount()
    expect(read.profile?["sub"], is: .string("alice"))
    try expect(engine.identity.profile()["sub"], is: .string("alice"))
    expect(read.accessToken, is: Secret("access-2"))
    try expect(read.idToken, is: bench.record.confirmed?.idToken)
    try expect(read.expiresAt, is: bench.record.confirmed?.expiry.expiresAt)
    expect(read.waiting?.profile["sub"], is: .string("bob"))
    expect(
      engine.state,
      is: .awaitingConfirmation(
        transactionID: try #require(read.waiting?.transactionID), profile: try #require(read.waiting?.profile)
      ))
    bench.provider.change { $0.subject = "alice" }
    try expect(engine.identity.userinfo(cancellation: nil)["sub"], is: .string("alice"))
    #expect(
      bench.provider.requests(.userinfo).last?.headers.contains { $0.value.contains("access-2") } ?? false)
  }

  @Test(
    "without a session account.read has nothing but the sign-in that waits, and identity.profile describes it"
  )
  func withoutSession() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = bench.engine()
    let bob = try signIn("bob", engine, bench)
    let read = try engine.registration.readAccount()
    #expect(read.profile == nil && read.idToken == nil && read.accessToken == nil && read.expiresAt == nil)
    expect(read.waiting?.transactionID, is: bob)
    try expect(engine.identity.profile()["sub"], is: .string("bob"))
  }

  @Test("a yes to one profile confirms no other: with or without its name it fails, and nothing changes")
  func another() throws {
    let bench = try Bench(requiresConfirmation: true)
    let (first, second) = (bench.engine(), bench.engine())
    let carols = try second.signIn.begin(SignInOptions(), cancellation: nil)
    let bob = try signIn("bob", first, bench)
    bench.provider.change { $0.subject = "carol" }
    _ = try second.signIn.resume(bench.provider.signIn(at: carols.url), cancellation: nil)
    let before = try bench.record
    expect(code { _ = try first.registration.confirm() }, is: .illegalState)
    expect(code { _ = try first.registration.confirm(bob) }, is: .illegalState)
    expect(code { _ = try first.registration.retry(bob, cancellation: nil) }, is: .illegalState)
    try expect(bench.record, is: before)

    try expect(first.questionShown(), is: carols.transactionID)
    // Both profiles have been shown, so a confirmation without a transaction could mean either.
    expect(code { _ = try first.registration.confirm() }, is: .illegalState)
    try expect(bench.record, is: before)
    try expect(first.registration.confirm(carols.transactionID), is: .active(.confirmed))
    try expect(first.identity.profile()["sub"], is: .string("carol"))
  }

  @Test(
    "in one process, too: a redirect that arrives while the user is asked leaves the first question unanswered"
  )
  func inOneProcess() throws {
    let bench = try Bench(requiresConfirmation: true)
    let engine = bench.engine()
    let carols = try engine.signIn.begin(SignInOptions(), cancellation: nil)
    let bob = try signIn("bob", engine, bench)
    bench.provider.change { $0.subject = "carol" }
    _ = try engine.signIn.resume(bench.provider.signIn(at: carols.url), cancellation: nil)
    expect(code { _ = try engine.registration.confirm() }, is: .illegalState)
    expect(code { _ = try engine.registration.confirm(bob) }, is: .illegalState)
    // After the user rejects a profile, only one question is left.
    _ = try engine.registration.retry(cancellation: nil)
    try signIn("bob", engine, bench)
    try expect(engine.registration.confirm(), is: .active(.confirmed))
    try expect(engine.identity.profile()["sub"], is: .string("bob"))
  }

  @Test("a process that has shown nothing confirms nothing, unless the transaction is named")
  func nothingShown() throws {
    let bench = try Bench(requiresConfirmation: true)
    let bob = try signIn("bob", bench.engine(), bench)
    expect(code { _ = try bench.engine().registration.confirm() }, is: .illegalState)
    try expect(bench.record.confirmed, is: nil)
    let later = bench.engine()
    try expect(later.questionShown(), is: bob)
    try expect(later.registration.confirm(), is: .active(.confirmed))
  }

  @Test("a tie is broken at the save: tokens that arrive while the back end is asked are not confirmed")
  func duringCheck() throws {
    let bench = try Bench(requiresConfirmation: true, checks: true)
    let (first, second) = (bench.engine(), bench.engine())
    let carols = try second.signIn.begin(SignInOptions(), cancellation: nil)
    try signIn("bob", first, bench)
    bench.provider.next(
      .registrationCheck,
      .during {
        bench.provider.change { $0.subject = "carol" }
        _ = try? second.signIn.resume(bench.provider.signIn(at: carols.url), cancellation: nil)
      })
    bench.provider.change { $0.checkAnswer = { $0["sub"] = .string("bob") } }
    expect(code { _ = try first.registration.confirm() }, is: .illegalState)
    try expect(bench.record.confirmed, is: nil)
    try expect(bench.record.provisional?.identity?.subject, is: "carol")
  }

  @Test("only a session that is known to be the same user's is no other user's")
  func anotherUser() throws {
    let (_, engine) = try besideAlice()
    try expect(engine.registration.waitsBesideAnotherUser(), is: true)
    _ = try engine.registration.retry(cancellation: nil)
    try expect(engine.registration.waitsBesideAnotherUser(), is: false)
    let bench = try Bench(requiresConfirmation: true)
    let again = bench.engine()
    try signIn("alice", again, bench)
    try expect(again.registration.waitsBesideAnotherUser(), is: false)
    _ = try again.registration.confirm()
    try signIn("alice", again, bench)
    try expect(again.registration.waitsBesideAnotherUser(), is: false)
  }

  @Test("tokens that an earlier form of the record keeps without a transaction are confirmed all the same")
  func earlierForm() throws {
    let bench = try Bench(requiresConfirmation: true)
    try signIn("bob", bench.engine(), bench)
    try bench.store.update(.default) { $0.provisionalTransactionID = nil }
    let later = bench.engine()
    try expect(later.registration.confirm(later.questionShown()), is: .active(.confirmed))
  }
}
