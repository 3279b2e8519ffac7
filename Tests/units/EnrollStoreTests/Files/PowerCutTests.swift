// Every state that a power cut may leave, at every moment of every change of the store (reliability.md, How
// it is shown): each opens with the last acknowledged record or with the record that was being saved, and can
// still be used.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct PowerCutTests {
  private typealias Change = @Sendable (FileTokenStore) throws(EnrollError) -> Void
  private static let other = (try? AccountName("other@example.org")) ?? .default

  private static func save(_ type: String, bytes: Int = 0) -> Change {
    { (store) throws(EnrollError) in
      try store.update(.default) {
        $0.registrationType = type + String(repeating: "x", count: bytes)
        $0.tokenEpoch += 1
      }
    }
  }

  /// Every change of the disk, in an order in which each has an effect.
  private static let changes: [(name: String, run: Change)] = [
    ("the first save, with the store and its keys", save("first")),
    ("a longer record", save("second", bytes: 3000)),
    ("a shorter one", save("third")),
    (
      "a renewal: space, intent, tokens",
      { (store) throws(EnrollError) in
        let epoch = try store.read(.default)?.tokenEpoch ?? 0
        _ = try store.withRenewalLock(.default, epoch: epoch, deadline: .distantFuture) {
          () throws(EnrollError) in
          try store.reserveSpace(.default)
          try store.update(.default) { $0.asksForLogin = true }
          try store.update(.default) {
            $0.registrationType = "renewed"
            $0.tokenEpoch += 1
          }
        }
      }
    ),
    (
      "another account", { (store) throws(EnrollError) in try store.update(other) { $0.asksForLogin = true } }
    ),
    ("the installation's id", { (store) throws(EnrollError) in _ = try store.installationID() }),
    (
      "the outbox",
      { (store) throws(EnrollError) in
        try store.updateOutbox {
          $0.append(
            OutboxEntry(
              issuer: "https://login.example.org", endpoint: nil,
              message: .revocation(
                .init(clientID: "sample-app", token: Secret("token"), hint: "refresh_token")),
              queued: UnixTime(seconds: 1_800_000_000)))
        }
      }
    ),
    ("the key wrapped anew", { (store) throws(EnrollError) in try store.replaceKeys(.file) }),
    (
      "a new key for every file",
      { (store) throws(EnrollError) in try store.replaceKeys(.file, newDataKey: true) }
    ),
    ("a save under the new key", save("fourth")),
    ("a PIN", { (store) throws(EnrollError) in try store.setPIN(Secret("4711"), other) }),
    ("an account removed", { (store) throws(EnrollError) in try store.remove(.default) }),
    ("and made again", save("fifth")),
    ("another installation", { (store) throws(EnrollError) in try store.resetInstallationID() }),
  ]

  /// The contents that a process finds when it opens the store.
  private static func found(_ image: ModelDisk.Image) throws(EnrollError) -> [String] {
    let store = try open(ModelDisk(image))
    let record = try store.read(.default)
    let other =
      try store.isUnlocked(other) == false ? "locked" : "\(try store.read(other)?.asksForLogin ?? false)"
    let outbox = try store.updateOutbox { _ throws(EnrollError) in }
    return ["\(record?.tokenEpoch ?? 0) \(record?.registrationType ?? "none")", other, "\(outbox.count)"]
  }

  private static func open(_ disk: ModelDisk) throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(path: "/store", clock: FakeClock(), system: disk)
  }

  /// The faults that were found in the states after a power cut.
  private struct Outcome {
    var count = 0
    var problems: [String] = []
  }

  /// Makes a change on a disk with the contents `image`.
  /// - Returns: the contents afterwards.
  private func run(
    _ change: (name: String, run: Change), on image: ModelDisk.Image, ignoresSyncs: Bool = false,
    _ outcome: inout Outcome
  ) throws -> ModelDisk.Image {
    let cuts = Guarded<Set<ModelDisk.Image>>([], by: Mutex())
    let disk = ModelDisk(
      image, ignoresSyncs: ignoresSyncs,
      after: { disk in cuts.withLock { $0.formUnion(disk.afterPowerCut) } })
    let before = try Self.found(image)
    try change.run(try Self.open(disk))
    let after = try Self.found(disk.live)
    let within = cuts.withLock { $0 }
    let acknowledged = disk.afterPowerCut
    outcome.count += within.union(acknowledged).count
    for image in within { outcome.problems += problem(change.name, image, [before, after]) }
    for image in acknowledged {
      outcome.problems += problem(change.name + ", acknowledged", image, [after])
    }
    return disk.live
  }

  private func problem(_ what: String, _ image: ModelDisk.Image, _ wanted: [[String]]) -> [String] {
    do throws(EnrollError) {
      let found = try Self.found(image)
      guard wanted.contains(found) else {
        return ["\(what): \(found), not one of \(wanted)"]
      }
      let store = try Self.open(ModelDisk(image))
      try store.update(.default) { $0.registrationType = "next" }
      return try store.read(.default)?.registrationType == "next"
        ? [] : ["\(what): the next save is not there"]
    } catch {
      return ["\(what): \(error)"]
    }
  }

  @Test("whatever a power cut leaves opens, with the old state or the new one, and goes on")
  func everyState() throws {
    var outcome = Outcome()
    var image = ModelDisk.Image()
    for change in Self.changes { image = try run(change, on: image, &outcome) }
    #expect(
      outcome.problems.isEmpty,
      "\(outcome.problems.count) of \(outcome.count): \(outcome.problems.prefix(5))")
    #expect(outcome.count > 150, "states: \(outcome.count)")
  }

  @Test("a disk that ignores a file's sync is found out, so such states are looked at")
  func lyingDisk() throws {
    var outcome = Outcome()
    let image = try run(Self.changes[0], on: ModelDisk.Image(), &outcome)
    #expect(outcome.problems.isEmpty)
    _ = try run(Self.changes[1], on: image, ignoresSyncs: true, &outcome)
    #expect(!outcome.problems.isEmpty)
  }
}
