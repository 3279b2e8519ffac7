// A store that an older program left: read as it is, in the new form from the next save on, and nothing lost in between.

import EnrollCore
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Foundation
import Testing
@testable import EnrollHost

@Suite
struct UpgradeTests {
  private let folder = TestFolder()

  /// From a form that called the lineage `line`, by way of one that called it `branch`.
  private static let upgrades = DocumentUpgrades([
    { renamed($0, "line", "branch") }, { renamed($0, "branch", "lineage") },
  ])

  private static func renamed(_ old: JSONObject, _ from: String, _ to: String) -> JSONObject? {
    guard let value = old[from] else { return nil }
    var new = old
    new[from] = nil
    new[to] = value
    return new
  }

  private func open(
    _ upgrades: DocumentUpgrades? = nil, system: any FileSystem = PosixFileSystem()
  ) throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(
      path: folder.store, keys: .file, clock: FakeClock(), random: SystemRandomSource(),
      allowsNetworkFilesystem: false, system: system, upgrades: upgrades ?? Self.upgrades)
  }

  /// Rewrites the record as a program of that version would have written it.
  private func makeOld(_ version: Int64, calling name: String) throws {
    let store = try open()
    let keys = try store.ring.open()
    let file = try #require(try folder.names(".record").first)
    let tag = try #require(AccountFileNames.tag(ofRecord: file))
    let (plaintext, generation) = try SealedFormat.open(
      try folder.bytes(folder.store + "/" + file), tag: tag, keys: keys)
    var document = try #require(try JSON.parse(plaintext.revealBytes()).object)
    document["version"] = .integer(version)
    document[name] = document["lineage"]
    if name != "lineage" { document["lineage"] = nil }
    let sealed = try SealedFormat.seal(
      Secret(JSON.object(document).serialized()), tag: tag, generation: generation, keys: keys,
      random: SystemRandomSource())
    try folder.overwrite(folder.store + "/" + file, sealed)
  }

  @Test(
    "a record of an older form is read, and stands in the new form from the next save on",
    arguments: [-1, 0] as [Int64])
  func upgraded(_ version: Int64) throws {
    try folder.filled()
    try makeOld(version, calling: version == 0 ? "branch" : "line")
    let before = try folder.content()
    #expect(try open().read(.default)?.registrationType == "SOCIAL")
    #expect(try folder.content() == before, "reading changes nothing")
    #expect(try open().accounts() == [.default])
    try open().update(.default) { $0.tokenEpoch += 1 }
    #expect(
      try open(DocumentUpgrades.none).read(.default)?.registrationType == "SOCIAL",
      "no upgrade is needed any more")
  }

  @Test("a new data key keeps older forms, and they are read afterwards")
  func resealed() throws {
    try folder.filled()
    try makeOld(-1, calling: "line")
    try open().replaceKeys(.file, newDataKey: true)
    #expect(try open().read(.default)?.registrationType == "SOCIAL")
  }

  @Test("an upgrade that fails at any operation of the disk leaves the old form or the new one")
  func failingDisk() throws {
    var position = 0
    while true {
      position += 1
      let fresh = UpgradeTests()
      try fresh.folder.filled()
      try fresh.makeOld(-1, calling: "line")
      let at = position
      let count = Guarded(0, by: Mutex())
      let system = FaultyFileSystem(before: { _ in
        count.withLock {
          $0 += 1
          return $0 >= at ? .error(EIO) : nil
        }
      })
      let failed = failure { () throws(EnrollError) in
        try fresh.open(system: system).update(.default) { $0.tokenEpoch += 1 }
      }
      #expect(try fresh.open().read(.default)?.registrationType == "SOCIAL", "operation \(position)")
      guard failed != nil else { break }
    }
    #expect(position > 10, "\(position) operations")
  }

  @Test("a form that is newer, or older than any, is refused with its number and left as it is")
  func refused() throws {
    try folder.filled()
    try makeOld(2, calling: "lineage")
    let before = try folder.content()
    let newer = failure { () throws(EnrollError) in _ = try open().read(.default) }
    #expect(newer?.code == .storeVersion && newer?.message.contains("form 2") == true)
    #expect(
      code { () throws(EnrollError) in try open().update(.default) { $0.tokenEpoch += 1 } } == .storeVersion)
    #expect(try folder.content() == before)
    try makeNothing()
  }

  private func makeNothing() throws {
    let other = UpgradeTests()
    try other.folder.filled()
    try other.makeOld(-2, calling: "line")
    let older = failure { () throws(EnrollError) in _ = try other.open().read(.default) }
    #expect(older?.code == .storeCorrupt && older?.message.contains("no form has the number -2") == true)
  }
}
