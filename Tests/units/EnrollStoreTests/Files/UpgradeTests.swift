// The store of an older program is read without a change. The next save writes the new format, and nothing is lost. The
// store of a newer program is refused with an error, and is not changed. In these tests the current program plays the
// older program. InterruptionTests tests upgrades that are interrupted.

@testable import EnrollPosix
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

/// The documents whose formats have separate versions.
enum Kept: String, CaseIterable, Sendable { case sealed, account, outbox, installation, keys }

extension StoreForms {
  /// The formats of a program that is `count` versions newer. Each upgrade step leaves a mark, so that the
  /// test notices a step that is omitted or done twice.
  static func later(_ count: Int, _ kept: Kept..., keeping steps: Int? = nil) -> StoreForms {
    var forms = StoreForms()
    let newest = Int64(1 + count)
    let newestAccount = AccountDocument.form.newest + Int64(count)
    for one in kept {
      switch one {
      case .account:
        forms.account = marking("account", newestAccount, steps ?? count) {
          marked($0, "record", "registrationType")
        }
      case .outbox:
        let newestOutbox = OutboxDocument.form.newest + Int64(count)
        forms.outbox = marking("outbox", newestOutbox, steps ?? count) { marked($0, "entries", "issuer") }
      case .installation:
        forms.installation = marking("installation", newest, steps ?? count) { marked($0, nil, "id") }
      case .keys: forms.keys = marking("keys file", newest, steps ?? count) { $0 }
      case .sealed:
        forms.sealed = StoreForm(
          "sealed file", newest: newest, (1...Int64(count)).map { from in { resealed($0, from) } })
      }
    }
    return forms
  }

  private static func marking(
    _ name: String, _ newest: Int64, _ steps: Int, _ mark: @escaping @Sendable (JSONObject) -> JSONObject?
  ) -> StoreForm<JSONObject> {
    StoreForm(name, newest: newest, (0..<steps).map { _ in { .success(mark($0)) } })
  }

  /// Puts a plus sign before the text of the member `key`. `place` names the object that has this member, or a list of
  /// such objects. If `place` is nil, the member is in `old` itself.
  private static func marked(_ old: JSONObject, _ place: String?, _ key: String) -> JSONObject? {
    var new = old
    guard let place else {
      guard let text = old[key]?.string else { return nil }
      new[key] = .string("+" + text)
      return new
    }
    if let list = old[place]?.array {
      new[place] = .array(list.compactMap { $0.object.flatMap { marked($0, nil, key) }.map { .object($0) } })
    } else if let object = old[place]?.object {
      guard let object = marked(object, nil, key) else { return nil }
      new[place] = .object(object)
    }
    return new
  }

  private static func resealed(_ old: SealedBytes, _ from: Int64) -> Result<SealedBytes?, EnrollError> {
    Result { () throws(EnrollError) in
      let (plaintext, generation) = try SealedFormat.open(
        old.file, tag: old.tag, keys: old.keys, as: StoreForm("sealed file", newest: from))
      var new = old
      new.file = try SealedFormat.seal(
        plaintext, tag: old.tag, generation: generation, keys: old.keys, random: SystemRandomSource(),
        as: StoreForm("sealed file", newest: from + 1))
      return new
    }
  }
}

@Suite(.timeLimit(.minutes(10)))
struct UpgradeTests {
  private let folder = TestFolder()

  private func open(_ forms: StoreForms = .today) throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(
      path: folder.store, keys: .file, clock: FakeClock(), random: SystemRandomSource(),
      allowsNetworkFilesystem: false, system: PosixFileSystem(), forms: forms)
  }

  private func fill() throws {
    let store = try folder.filled()
    _ = try store.installationID()
    try add("first", to: store)
  }

  private func add(_ issuer: String, to store: FileTokenStore) throws(EnrollError) {
    try store.updateOutbox {
      $0.append(
        OutboxEntry(
          issuer: Issuer(issuer), endpoint: nil, message: .profile(account: "a"), queued: UnixTime(seconds: 1)
        ))
    }
  }

  private func found(_ store: FileTokenStore) throws(EnrollError) -> [String] {
    let issuers = try store.updateOutbox { _ in }.map { $0.issuer.text }
    return [try store.read(.default)?.registrationType ?? "none", issuers.joined(separator: " ")]
  }

  /// Saves every document once.
  private func saveAll(_ store: FileTokenStore) throws(EnrollError) {
    try store.update(.default) { $0.tokenEpoch += 1 }
    try add("second", to: store)
    try store.replaceKeys(.file)
  }

  @Test(
    "what an older program wrote is read, and stands in the new form from the next save on",
    arguments: [1, 3])
  func upgraded(_ count: Int) throws {
    try fill()
    let id = try open().installationID()
    let before = try folder.content()
    let later = StoreForms.later(count, .sealed, .account, .outbox, .installation, .keys)
    let plus = String(repeating: "+", count: count)
    try expect(found(open(later)), is: [plus + "SOCIAL", plus + "first"])
    try expect(open(later).installationID(), is: plus + id)
    try expect(open(later).accounts(), is: [.default])
    try expect(folder.content(), is: before, "reading changes nothing")

    try saveAll(open(later))
    // Opens the store with a program that reads only the newest format.
    var newest = StoreForms.later(count, .account, .outbox, .keys, keeping: 0)
    newest.sealed = later.sealed
    try expect(found(open(newest)), is: [plus + "SOCIAL", plus + "first second"])
    try expect(open(later).installationID(), is: plus + id, "which was not saved since")
  }

  @Test(
    "what a newer program wrote is refused with both numbers, and left as it is", arguments: Kept.allCases)
  func refused(_ kept: Kept) throws {
    try fill()
    let later = try open(.later(1, kept))
    try saveAll(later)
    try later.resetInstallationID()
    _ = try later.installationID()
    let before = try folder.content()
    let store = try open()
    let calls: [(Kept, (FileTokenStore) throws(EnrollError) -> Void)] = [
      (.account, { store throws(EnrollError) in _ = try store.read(.default) }),
      (.account, { store throws(EnrollError) in try store.update(.default) { $0.tokenEpoch += 1 } }),
      (.account, { store throws(EnrollError) in try store.setPIN(Secret("2468"), .default) }),
      (.outbox, { store throws(EnrollError) in try store.updateOutbox { $0 = [] } }),
      (.installation, { store throws(EnrollError) in _ = try store.installationID() }),
    ]
    for (place, call) in calls {
      let failed = failure { () throws(EnrollError) in try call(store) }
      guard kept == .keys || kept == .sealed || place == kept else { continue }
      expect(failed?.code, is: .storeVersion)
      let known =
        switch kept {
        case .account: AccountDocument.form.newest
        case .outbox: OutboxDocument.form.newest
        case .installation, .keys, .sealed: Int64(1)
        }
      expect(failed?.message.contains("form \(known + 1)"), is: true)
      expect(failed?.message.contains("up to \(known)"), is: true)
    }
    let own: [String] =
      switch kept {
      case .account: [".record"]
      case .sealed: [".record", "outbox", "installation"]
      default: [kept.rawValue]
      }
    let after = try folder.content()
    for (name, bytes) in before where own.contains(where: { name.hasSuffix($0) }) {
      expect(after[name], is: bytes, "\(name)")
    }
    #expect(after.keys.allSatisfy { !$0.contains("corrupt") })
    let rekey = code { () throws(EnrollError) in try store.replaceKeys(.file, newDataKey: true) }
    // The contents of the document are not read.
    expect(rekey, is: kept == .keys || kept == .sealed ? .storeVersion : nil)
  }

  @Test("a record that a PIN seals is upgraded when the PIN opens it, also after its tries were counted")
  func underPIN() throws {
    let pin = Secret("2468")
    try folder.filled().setPIN(pin, .default)
    for _ in 1...2 {
      // Each call counts as a try of the PIN. The first call writes the outer document in the new format, but its
      // sealed part keeps the old format.
      try expect(open(.later(1, .account)).usePIN(Secret("0000"), .default, to: .unlock).outcome, is: .wrong)
    }
    for _ in 1...2 {
      let store = try open(.later(1, .account))
      try expect(store.usePIN(pin, .default, to: .unlock).outcome, is: .unlocked)
      try expect(store.read(.default)?.registrationType, is: "+SOCIAL")
      try store.update(.default) { $0.tokenEpoch += 1 }
      try expect(store.read(.default)?.registrationType, is: "+SOCIAL")
    }
    let store = try open(.later(2, .account))
    try expect(store.usePIN(pin, .default, to: .remove).outcome, is: .unlocked)
    try expect(store.read(.default)?.registrationType, is: "++SOCIAL")
    try expect(open(.later(2, .account, keeping: 0)).read(.default)?.registrationType, is: "++SOCIAL")
  }

  @Test("a form older than any that is read is damage, and so is what is not of the form that it states")
  func tooOld() throws {
    let present = AccountDocument.form.newest
    try folder.filled()
    let none = failure { () throws(EnrollError) in
      _ = try open(.later(2, .account, keeping: 1)).read(.default)
    }
    #expect(
      none?.code == .storeCorrupt && none?.message.contains("no form has the number \(present)") == true)
    let other = UpgradeTests()
    try other.folder.filled()
    var forms = StoreForms()
    forms.account = StoreForm("account", newest: present + 1, [{ _ in .success(nil) }])
    let odd = failure { () throws(EnrollError) in _ = try other.open(forms).read(.default) }
    #expect(odd?.code == .storeCorrupt && odd?.message.contains("form \(present)") == true)
  }
}
