// A description of each file of a store: which files can be opened, which cannot, and which were moved aside
// and can be put back.

@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Foundation
import StoreSupport
import Testing

@Suite
struct StoredFileTests {
  private let folder = TestFolder()

  private func files(_ keys: KeyPlan = .file) throws -> [StoredFile] {
    try #require(try StoreDiagnosis.examine(path: folder.store, keys: keys)).files
  }

  @Test(
    "every sealed file is told: its generation, what a record holds, a renewal of unknown outcome, what waits to be sent"
  )
  func everyFile() throws {
    let store = try folder.filled()
    try store.update(.default) {
      $0.renewalIntent = RenewalIntent(
        attempt: "CANARY", tokenEpoch: 1, refreshTokenHash: "CANARY", bootID: "CANARY",
        began: UnixTime(seconds: 4711))
    }
    let secret = try AccountName("CANARY")
    try store.update(secret) { $0.registrationType = "SOCIAL" }
    try store.setPIN(Secret("1234"), secret)
    _ = try store.installationID()
    let entry = OutboxEntry(
      issuer: "CANARY", endpoint: nil,
      message: .revocation(.init(clientID: "c", token: Secret("CANARY"), hint: "h")),
      queued: UnixTime(seconds: 1))
    try store.updateOutbox { $0 = [entry, entry] }

    let before = try folder.content()
    let files = try files()
    try expect(folder.content(), is: before, "nothing is changed")
    expect(files.count, is: 4)
    #expect(files.allSatisfy { $0.problem == nil && $0.originalName == nil })
    let shut = try #require(files.first { $0.kind == .account && $0.isUnderPIN })
    #expect(shut.generation == 2 && shut.account == nil)
    let open = try #require(files.first { $0.kind == .account && !$0.isUnderPIN })
    expect(open.generation, is: 2)
    expect(open.account?["renewalBegan"]?.integer, is: 4711)
    expect(open.account?["registrationType"]?.string, is: "SOCIAL")
    expect(files.first { $0.kind == .outbox }?.entryCount, is: 2)
    expect(files.first { $0.kind == .installation }?.generation, is: 1)
    #expect(!"\(files)".contains("CANARY"))
  }

  @Test("of more files than a diagnosis holds, those that open are left out first, and counted")
  func manyFiles() {
    var files = StoredFiles()
    let limit = StoreDiagnosis.fileLimit
    for number in 0..<(limit + 200) {
      var file = StoredFile(name: "\(10_000 + number)", kind: .account)
      if number == limit + 100 { file.problem = EnrollError(.storeCorrupt, "damaged") }
      if number == limit + 150 { file.originalName = "before" }
      files.append(file)
    }
    let all = files.all
    expect(all.count, is: limit)
    expect(files.omittedCount, is: 200)
    expect(all.map(\.name), is: all.map(\.name).sorted())
    #expect(all.prefix(limit - 2).allSatisfy { $0.problem == nil && $0.originalName == nil })
    #expect(all[limit - 2].problem != nil && all[limit - 1].originalName != nil)
  }

  @Test("every file of the store whose mode is not 0600 is told, and no other")
  func modes() throws {
    _ = try folder.filled()
    try expect(#require(try StoreDiagnosis.examine(path: folder.store)).wrongModes, is: [])
    try Data().write(to: URL(fileURLWithPath: folder.store + "/notes.txt"))
    let changed = try [".record", "keys", "key", ".write"].map { try folder.only($0) }
    for path in changed { chmod(path, 0o2644) }
    let found = try #require(try StoreDiagnosis.examine(path: folder.store)).wrongModes
    expect(Set(found.map { folder.store + "/" + $0.name }), is: Set(changed))
    #expect(found.allSatisfy { $0.permissions == 0o2644 })
  }

  @Test("a damaged file is told and stays where it is; set aside, it is told with the name that it had")
  func damaged() throws {
    try folder.filled()
    let path = try folder.only(".record")
    let whole = try folder.bytes(path)
    var bytes = whole
    bytes[bytes.count - 1] ^= 1
    try folder.overwrite(path, bytes)
    let found = try #require(try files().first)
    #expect(found.problem?.code == .storeCorrupt && found.generation == 1 && found.originalName == nil)
    try expect(folder.only(".record"), is: path)

    expect(
      failure { () throws(EnrollError) in _ = try folder.open().read(.default) }?.code, is: .storeCorrupt)
    let aside = try #require(try files().first)
    expect(aside.originalName.map { folder.store + "/" + $0 }, is: path)
    #expect(aside.name != aside.originalName && aside.problem?.code == .storeCorrupt)

    // The user repairs the file from a copy, and moves it back.
    try folder.overwrite(folder.store + "/" + aside.name, whole)
    try expect(files().first?.problem, is: nil, "it opens under the name that it had")
    try FileManager.default.moveItem(atPath: folder.store + "/" + aside.name, toPath: path)
    try expect(folder.open().read(.default)?.registrationType, is: "SOCIAL")
  }

  @Test("what is sealed with another key, or written by a newer program, is told apart from damage")
  func otherReasons() throws {
    try folder.filled()
    let other = TestFolder()
    try other.filled()
    let path = try folder.only(".record")
    try folder.overwrite(path, try other.bytes(try other.only(".record")))
    #expect([.storeKey, .storeCorrupt].contains(try files().first?.problem?.code))
    try expect(files().first?.generation, is: 1)
  }

  @Test("a store that stays locked is explained as far as it can be seen")
  func locked() throws {
    let secretStore = FakeSecretStore()
    try folder.filled(KeyPlan(.host(secretStore)))
    secretStore.isLocked = true
    let diagnosis = try #require(
      try StoreDiagnosis.examine(path: folder.store, keys: KeyPlan(.host(secretStore))))
    #expect(diagnosis.files.isEmpty && diagnosis.accountCount == 1 && diagnosis.problem?.code == .storeLocked)
  }
}
