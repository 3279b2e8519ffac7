// Tests with a store that was restored from a copy, while its key is in a place that the copy does not include
// (store.md, Rollback).

@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite("A store put back from a copy")
struct RollbackTests {
  private let folder = TestFolder()
  private let secretStore = FakeSecretStore()
  private let clock = FakeClock()
  private var copy: String { folder.path + "/copy" }

  /// Opens the store as a program does that was started again.
  private func open(_ keys: KeyPlan? = nil) throws(EnrollError) -> FileTokenStore {
    try folder.open(clock: clock, keys: keys ?? KeyPlan(.host(secretStore)))
  }

  private func signIn(_ store: FileTokenStore, token: String = "access") throws {
    _ = try store.update(.default) {
      $0.confirmed = TokenSet(
        accessToken: Secret(token), tokenType: "Bearer",
        expiry: Expiry(lifetimeSeconds: 60, from: clock.moment()))
      $0.tokenEpoch += 1
    }
  }

  private func signOut(_ store: FileTokenStore) throws {
    _ = try store.update(.default) {
      $0.confirmed = nil
      $0.tokenEpoch += 1
    }
  }

  private func makeCopy() throws { try FileManager.default.copyItem(atPath: folder.store, toPath: copy) }

  private func putBack() throws {
    try FileManager.default.removeItem(atPath: folder.store)
    try FileManager.default.copyItem(atPath: copy, toPath: folder.store)
  }

  /// Expects that the account has no session, and that the old record was renamed.
  private func expectSetAside() throws {
    let store = try open()
    expect(code { () throws(EnrollError) in _ = try store.read(.default) }, is: .storeCorrupt)
    try expect(store.read(.default), is: nil)
    #expect(
      try folder.names().contains { $0.contains(".corrupt-") }
    )
    // Signing in works.
    try signIn(store)
    try expect(open().read(.default)?.hasTokens, is: true)
  }

  @Test("a sign-out stays one")
  func signOutStays() throws {
    let store = try open()
    try signIn(store)
    try makeCopy()
    try signOut(store)
    try putBack()
    try expectSetAside()
  }

  @Test("an account that was erased stays erased")
  func erased() throws {
    let store = try open()
    try signIn(store)
    try makeCopy()
    try store.remove(.default)
    try putBack()
    try expectSetAside()
  }

  @Test("a session that is live goes on, with whatever its tokens are worth")
  func live() throws {
    let store = try open()
    try signIn(store)
    try makeCopy()
    try signIn(store, token: "newer")
    try putBack()
    try expect(open().read(.default)?.confirmed?.accessToken, is: Secret("access"))
  }

  @Test("tries at the PIN do not come back, and neither does the time before there was one")
  func pin() async throws {
    try await aside {
      let store = try open()
      try signIn(store)
      try makeCopy()
      try store.setPIN(Secret("2468"), .default)
      try putBack()
      try expectSetAside()

      let other = try open()
      try other.setPIN(Secret("2468"), .default)
      try FileManager.default.removeItem(atPath: copy)
      try makeCopy()
      let guess = try open()
      try expect(guess.usePIN(Secret("0000"), .default, to: .unlock).outcome, is: .wrong)
      try putBack()
      expect(code { () throws(EnrollError) in _ = try open().isUnlocked(.default) }, is: .storeCorrupt)
    }
  }

  @Test("a PIN that was replaced opens nothing any more")
  func replacedPIN() async throws {
    try await aside {
      let store = try open()
      try signIn(store)
      try store.setPIN(Secret("2468"), .default)
      _ = try store.usePIN(Secret("2468"), .default, to: .unlock)
      try makeCopy()
      try expect(store.usePIN(Secret("2468"), .default, to: .replace(Secret("1357"))).outcome, is: .unlocked)
      try putBack()
      expect(code { () throws(EnrollError) in _ = try open().isUnlocked(.default) }, is: .storeCorrupt)
    }
  }

  @Test("the next sign-in under the same name is another life, which an old mark does not touch")
  func nextLife() throws {
    let store = try open()
    for _ in 1...5 { try signIn(store) }
    try store.remove(.default)
    try signIn(store)
    try expect(open().read(.default)?.hasTokens, is: true)
  }

  @Test("a mark of another store, or nonsense in its place, is none")
  func nonsense() throws {
    let store = try open()
    try signIn(store)
    let keys = Set(secretStore.items.keys)
    try makeCopy()
    try signOut(store)
    let mark = try #require(Set(secretStore.items.keys).subtracting(keys).first)
    for bytes in [[UInt8](repeating: 255, count: 32), [], [1]] {
      secretStore.items[mark] = Secret(bytes)
      try putBack()
      try expect(open().read(.default)?.hasTokens, is: true)
    }
  }

  @Test("a keyring that is shut keeps no mark and hinders nobody")
  func shut() throws {
    let store = try open()
    try signIn(store)
    secretStore.isLocked = true
    try signOut(store)
    try expect(store.read(.default)?.hasTokens, is: false)
  }

  @Test("with a key file in the folder nothing can tell: everything comes back")
  func keyFile() throws {
    let store = try open(.file)
    try signIn(store)
    try makeCopy()
    try signOut(store)
    try putBack()
    try expect(open(.file).read(.default)?.hasTokens, is: true)
  }
}
