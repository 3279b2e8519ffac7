// A PIN for an account in a store of files (store.md, PIN).

@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollTesting
import Expectations
import StoreSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PINTests {
  private let folder = TestFolder()
  private let clock = FakeClock()
  private let pin = Secret("2468")

  private func guarded() throws -> FileTokenStore {
    let store = try folder.filled(clock: clock)
    try store.setPIN(pin, .default)
    return store
  }

  @Test("whoever set it goes on; every other opening is shut, for reading and writing, until it is given")
  func shut() throws {
    let store = try guarded()
    try expect(store.read(.default)?.registrationType, is: "SOCIAL")
    try expect(store.isUnlocked(.default), is: true)
    let other = try folder.open(clock: clock)
    try expect(other.isUnlocked(.default), is: false)
    expect(code { () throws(EnrollError) in _ = try other.read(.default) }, is: .storeLocked)
    expect(
      code { () throws(EnrollError) in _ = try other.update(.default) { $0.asksForLogin = true } },
      is: .storeLocked)
    try expect(other.accounts(), is: [.default])
    try expect(other.usePIN(pin, .default, to: .unlock), is: PINAnswer(.unlocked, triesLeft: 10))
    _ = try other.update(.default) { $0.asksForLogin = true }
    try expect(store.read(.default)?.asksForLogin, is: true)
    try expect(store.read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test("the pauses grow, the tenth wrong try erases the account, and the right PIN comes too late")
  func erased() throws {
    _ = try guarded()
    let store = try folder.open(clock: clock)
    var pauses: [Int64] = []
    for left in (1...9).reversed() {
      let answer = try store.usePIN(Secret("0000"), .default, to: .unlock)
      #expect(answer.outcome == .wrong && answer.triesLeft == Int64(left))
      pauses.append(answer.retryAfterSeconds)
      if answer.retryAfterSeconds > 0 {
        clock.advance(seconds: answer.retryAfterSeconds - 1)
        let early = try store.usePIN(pin, .default, to: .unlock)
        expect(early, is: PINAnswer(.tooSoon, triesLeft: Int64(left), retryAfterSeconds: 1))
        clock.advance(seconds: 1)
      }
    }
    expect(pauses, is: [0, 0, 30, 60, 120, 240, 480, 960, 1920])
    try expect(store.usePIN(Secret("0000"), .default, to: .unlock), is: PINAnswer(.erased, triesLeft: 0))
    try expect(store.read(.default), is: nil)
    expect(
      code { () throws(EnrollError) in _ = try store.usePIN(pin, .default, to: .unlock) }, is: .illegalState)
  }

  @Test("the right one forgives the wrong ones before it")
  func forgiven() throws {
    let store = try guarded()
    for _ in 1...2 { _ = try store.usePIN(Secret("0000"), .default, to: .unlock) }
    try expect(store.usePIN(pin, .default, to: .unlock).triesLeft, is: 10)
    try expect(store.usePIN(Secret("0000"), .default, to: .unlock).triesLeft, is: 9)
  }

  @Test("a try is on disk before the PIN is looked at: what cannot be counted is not answered")
  func countedFirst() throws {
    _ = try guarded()
    let isFull = Atomic<Bool>(false)
    let disk = FaultyFileSystem(before: { call in
      isFull.load(ordering: .relaxed) && call.operation == .rename ? .error(28) : nil
    })
    let store = try folder.open(clock: clock, system: disk)
    _ = try store.isUnlocked(.default)
    isFull.store(true, ordering: .relaxed)
    expect(
      code { () throws(EnrollError) in _ = try store.usePIN(pin, .default, to: .unlock) }, is: .storeFull)
    try expect(store.isUnlocked(.default), is: false)
  }

  @Test("a change keeps those who are in; removing and setting again shuts them out")
  func changed() throws {
    let first = try guarded()
    let second = try folder.open(clock: clock)
    _ = try second.usePIN(pin, .default, to: .replace(Secret("1357")))
    try expect(first.read(.default), isNot: nil)
    try expect(first.usePIN(pin, .default, to: .unlock).outcome, is: .wrong)
    try expect(first.usePIN(Secret("1357"), .default, to: .remove).outcome, is: .unlocked)
    try expect(folder.open(clock: clock).read(.default)?.registrationType, is: "SOCIAL")
    try second.setPIN(Secret("9999"), .default)
    expect(code { () throws(EnrollError) in _ = try first.read(.default) }, is: .storeLocked)
  }

  @Test("set once, over something; used only where there is one")
  func states() throws {
    let empty = try folder.open(clock: clock)
    expect(code { () throws(EnrollError) in try empty.setPIN(pin, .default) }, is: .illegalState)
    let store = try guarded()
    expect(code { () throws(EnrollError) in try store.setPIN(pin, .default) }, is: .illegalState)
    let other = try AccountName("other")
    try expect(store.isUnlocked(other), is: nil)
    expect(
      code { () throws(EnrollError) in _ = try store.usePIN(pin, other, to: .unlock) }, is: .illegalState)
    #expect(MemoryTokenStore(clock: clock).pins == nil)
  }

  @Test("the policy: 4 to 64 bytes without control characters")
  func policy() throws {
    for text in ["1234", String(repeating: "x", count: 64), "vier päss"] { try PINPolicy.check(Secret(text)) }
    for text in ["", "123", String(repeating: "x", count: 65), "12\n4", "12\u{7F}4"] {
      expect(code { () throws(EnrollError) in try PINPolicy.check(Secret(text)) }, is: .invalidArgument)
    }
    expect(
      (1...10).map { PINPolicy.pauseSeconds(afterTries: $0) },
      is: [
        0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600,
      ])
    expect(PINPolicy.pauseSeconds(afterTries: .max), is: 3600)
  }
}
