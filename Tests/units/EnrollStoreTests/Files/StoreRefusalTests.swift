// Tests of the files that the store refuses to use. The store reports a different error for each kind of file, and must
// delete nothing.

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

@Suite(.timeLimit(.minutes(10)))
struct StoreRefusalTests {
  private let folder = TestFolder()
  private static let isRoot = geteuid() == 0
  private static let nobody = "65534"

  private func reading() -> EnrollError.Code? {
    code { () throws(EnrollError) in _ = try folder.open().read(.default) }
  }

  private func opening(_ path: String) -> EnrollError? {
    do { _ = try FileTokenStore(path: path, clock: FakeClock()) } catch { return error }
    return nil
  }

  // MARK: The folder

  @Test("the folder is made with mode 0700, its files with 0600, where the parent exists")
  func modes() throws {
    try folder.filled()
    _ = try folder.open().installationID()
    let manager = FileManager.default
    func mode(_ path: String) throws -> Int? {
      try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    try expect(mode(folder.store), is: 0o700)
    for name in try folder.names() { try expect(mode(folder.store + "/" + name), is: 0o600, "\(name)") }
  }

  @Test("a relative path, a missing parent, a file and a symbolic link are no folders for a store")
  func paths() throws {
    expect(opening("store")?.code, is: .invalidArgument)
    expect(opening("")?.code, is: .invalidArgument)
    expect(opening(folder.path + "/none/store")?.code, is: .storeRefused)
    try Data().write(to: URL(fileURLWithPath: folder.path + "/file"))
    expect(opening(folder.path + "/file")?.code, is: .storeRefused)
    try folder.filled()
    symlink(folder.store, folder.path + "/link")
    expect(opening(folder.path + "/link")?.code, is: .storeRefused)
    expect(opening(folder.path + "/link/")?.code, is: .storeRefused, "a slash at the end follows no link")
    expect(opening(folder.store + "//"), is: nil)
  }

  @Test("a store in a folder that takes no folders, as /proc, is not told that the folder is missing")
  func unmakeable() {
    let refused = opening("/proc/enrollkit")
    expect(refused?.code, is: .storeRefused)
    expect(
      refused?.message,
      is:
        "the store's folder /proc/enrollkit cannot be made: /proc exists, but the system makes no folder in it."
        + " Name a store elsewhere")
    expect(
      opening(folder.path + "/none/store")?.message.hasSuffix(
        "/none, which should hold it, does not exist. Run mkdir -p \(folder.path)/none, or name a store elsewhere"
      ), is: true)
    symlink(folder.path + "/nowhere", folder.path + "/dangling")
    expect(opening(folder.path + "/dangling/store")?.message.contains("does not exist"), is: true)
  }

  @Test("a folder that lets others in is refused", arguments: [0o710, 0o750, 0o701, 0o707, 0o777])
  func openFolder(_ mode: mode_t) throws {
    try folder.filled()
    chmod(folder.store, mode)
    let refused = opening(folder.store)
    expect(refused?.code, is: .storeRefused)
    #expect(
      refused?.message.hasSuffix(
        "Name a folder that holds the store alone, or, if this one does, give it mode 700") ?? false,
      "\(refused?.message ?? "")")
  }

  @Test("bits of a folder that let nobody in are accepted", arguments: [0o2700, 0o1700])
  func setgidFolder(_ mode: mode_t) throws {
    try folder.filled()
    chmod(folder.store, mode)
    expect(opening(folder.store), is: nil)
  }

  @Test("a network filesystem is refused by name unless it is allowed")
  func network() throws {
    let nfs = FaultyFileSystem(kind: 0x6969)
    do {
      _ = try folder.open(system: nfs)
      Issue.record("was not refused")
    } catch {
      expect(error.code, is: .storeRefused)
      #expect(error.message.contains("NFS"))
    }
    expect(
      code { () throws(EnrollError) in _ = try folder.open(system: nfs, allowsNetworkFilesystem: true) },
      is: nil)
  }

  @Test("a folder that vanishes under an open store is an error, not an account without tokens")
  func vanished() throws {
    let clock = FakeClock()
    let store = try folder.filled(clock: clock)
    try FileManager.default.removeItem(atPath: folder.store)
    clock.advance(seconds: 2)
    expect(code { () throws(EnrollError) in _ = try store.read(.default) }, is: .storeIO)
    expect(
      code { () throws(EnrollError) in _ = try store.update(.default) { $0.tokenEpoch += 1 } }, is: .storeIO)
  }

  @Test(
    "what the system refuses is told with the folder, what was tried, why, and what helps",
    arguments: [
      (FileOperation.makeFolder, EACCES, "cannot be made: ", "Make PARENT writable", .storeRefused),
      (.makeFolder, EROFS, "cannot be made: its file system is read-only", "Mount that", .storeRefused),
      (.makeFolder, ENOSPC, "cannot be made: no space is left", "Free some space", .storeFull),
      (.makeFolder, ENOENT, "cannot be made: PARENT exists", "Name a store elsewhere", .storeRefused),
      (.openFolder, EACCES, "cannot be opened: ", "run ls -la STORE", .storeRefused),
      (.openFolder, EMFILE, "cannot be opened: too many files", "ulimit -n", .storeIO),
      (.openLock, EACCES, "cannot be opened or made: ", "mode 700", .storeRefused),
      (.openLock, EROFS, "read-only", "name a store in a folder that can be written", .storeRefused),
      (.open, EDQUOT, "the disk quota", "have the quota raised", .storeFull),
      (.write, ENOSPC, "cannot be written: no space is left", "name a store elsewhere", .storeFull),
      (.write, EIO, "cannot be written: Input/output error", "Check the disk", .storeIO),
      (.lock, ENOLCK, "cannot be locked: ", "Name a store on a local file system", .storeRefused),
    ] as [(FileOperation, Int32, String, String, EnrollError.Code)])
  func words(
    _ operation: FileOperation, _ number: Int32, _ happened: String, _ helps: String, _ code: EnrollError.Code
  ) throws {
    let system = FaultyFileSystem(before: { $0.operation == operation ? .error(number) : nil })
    let refused = failure { () throws(EnrollError) in
      _ = try folder.open(system: system).update(.default) { $0.tokenEpoch += 1 }
    }
    let message = refused?.message ?? ""
    func placed(_ text: String) -> String {
      text.replacingOccurrences(of: "PARENT", with: folder.path)
        .replacingOccurrences(of: "STORE", with: folder.store)
    }
    expect(refused?.code, is: code)
    #expect(message.contains("the store's folder \(folder.store)"), "\(message)")
    #expect(message.contains(placed(happened)), "\(message)")
    #expect(message.contains(placed(helps)), "\(message)")
    #expect(!message.contains("errno"), "\(message)")
    if number == EACCES { #expect(message.contains("user \(geteuid()) has no permission"), "\(message)") }
  }

  // MARK: The files

  @Test(
    "a file that lets others in is refused, and left alone", arguments: [".record", "keys", "key", ".write"])
  func openFile(_ name: String) throws {
    try folder.filled()
    let path = try folder.only(name)
    let before = try folder.bytes(path)
    chmod(path, 0o640)
    let refused = failure { () throws(EnrollError) in
      let store = try folder.open()
      _ = try store.update(.default) { $0.tokenEpoch += 1 }
    }
    expect(refused?.code, is: .storeRefused)
    #expect(refused?.message.hasSuffix("Run chmod 600 \(path)") ?? false, "\(refused?.message ?? "")")
    try expect(folder.bytes(path), is: before)
  }

  @Test("a file with two names is refused", arguments: [".record", "keys", "key", ".write"])
  func hardLink(_ name: String) throws {
    try folder.filled()
    expect(link(try folder.only(name), folder.path + "/second"), is: 0)
    let refused = code { () throws(EnrollError) in
      _ = try folder.open().update(.default) { $0.tokenEpoch += 1 }
    }
    expect(refused, is: .storeRefused)
  }

  @Test(
    "a symbolic link in place of a file is refused, and its target untouched",
    arguments: [".record", "keys", "key", ".write"])
  func symbolicLink(_ name: String) throws {
    try folder.filled()
    let path = try folder.only(name)
    let elsewhere = folder.path + "/elsewhere"
    try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
    let before = try folder.bytes(elsewhere)
    symlink(elsewhere, path)
    let refused = code { () throws(EnrollError) in
      _ = try folder.open().update(.default) { $0.tokenEpoch += 1 }
    }
    expect(refused, is: .storeRefused)
    try expect(folder.bytes(elsewhere), is: before)
  }

  @Test("a temporary name that is a symbolic link is not written through")
  func temporaryLink() throws {
    let store = try folder.filled()
    let target = folder.path + "/target"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: target))
    symlink(target, try folder.only(".record").replacingOccurrences(of: ".record", with: ".temp"))
    try store.update(.default) { $0.tokenEpoch += 1 }
    try expect(folder.bytes(target), is: Array("mine".utf8))
  }

  @Test("a pipe or a folder in place of a record is refused without waiting for it")
  func pipe() throws {
    try folder.filled()
    let path = try folder.only(".record")
    unlink(path)
    mkfifo(path, 0o600)
    expect(reading(), is: .storeRefused)
    unlink(path)
    mkdir(path, 0o700)
    expect(reading(), is: .storeRefused)
  }

  // MARK: Other users

  @Test(
    "a lock file of another user is a problem of the store",
    .enabled(if: isRoot, "needs root to give a file to somebody else"), arguments: [".write", "store.lock"])
  func foreignLock(name: String) throws {
    try folder.filled()
    try expect(#require(try StoreDiagnosis.examine(path: folder.store)).problem, is: nil)
    chown(try folder.only(name), 65534, 65534)
    let problem = try #require(try StoreDiagnosis.examine(path: folder.store)?.problem)
    expect(problem.code, is: .storeRefused)
    #expect(problem.message.contains("belongs to user 65534"))
  }

  @Test("a store of another user is refused", .enabled(if: isRoot, "needs root to become somebody else"))
  func foreignOwner() throws {
    try folder.filled()
    // Root may open every folder, so the owner is this folder's only fault.
    chown(folder.store, 65534, 65534)
    expect(opening(folder.store)?.code, is: .storeRefused, "root is another user too")
    chown(folder.store, 0, 0)
    chown(try folder.only(".record"), 65534, 65534)
    expect(reading(), is: .storeRefused)
    try expect(Probe.run("--user", Self.nobody, "read", folder.store), is: ["storeRefused"])
  }

  @Test(
    "a user who may not write is told so, and keeps what can be read",
    .enabled(if: isRoot, "needs root to become somebody else"))
  func unwritable() throws {
    chmod(folder.path, 0o777)
    try expect(Probe.run("--user", Self.nobody, "update", folder.store), is: ["updated"])
    chmod(folder.store, 0o500)
    try expect(Probe.run("--user", Self.nobody, "update", folder.store), is: ["storeRefused"])
    try expect(Probe.run("--user", Self.nobody, "read", folder.store).first?.hasPrefix("epoch"), is: true)
    // Tries a store that does not exist yet, in a folder in which nothing may be created.
    chmod(folder.path, 0o555)
    try expect(Probe.run("--user", Self.nobody, "update", folder.path + "/new"), is: ["storeRefused"])
    chmod(folder.path, 0o777)
  }

  // MARK: Damage and keys

  @Test("every flipped byte of a record is told, and the damaged file is set aside, not wiped")
  func damagedRecord() throws {
    try folder.filled()
    let path = try folder.only(".record")
    let whole = try folder.bytes(path)
    var changed = whole
    for index in whole.indices {
      changed[index] ^= 0x10
      try folder.overwrite(path, changed)
      expect(reading(), is: .storeCorrupt, "byte \(index)")
      let aside = try folder.names().filter { $0.contains(".record.corrupt-") }
      expect(aside.count, is: 1)
      try expect(folder.bytes(folder.store + "/" + (aside.first ?? "")), is: changed)
      try expect(folder.open().read(.default), is: nil, "told once, then the account has no record")
      try FileManager.default.removeItem(atPath: folder.store + "/" + (aside.first ?? ""))
      changed[index] ^= 0x10
      try Data(whole).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o600)
    }
    expect(reading(), is: nil)
  }

  @Test("an empty, a cut-off and an overlong record are damage", arguments: [0, 11, 159, 200, 1 << 21])
  func lengths(_ count: Int) throws {
    try folder.filled()
    let path = try folder.only(".record")
    var bytes = try folder.bytes(path)
    bytes = count < bytes.count ? Array(bytes[..<count]) : bytes + [UInt8](repeating: 0, count: count)
    try folder.overwrite(path, bytes)
    expect(reading(), is: .storeCorrupt)
  }

  @Test("a damaged file is set aside under its lock only, and not when it is mended by then")
  func damageUnderTheLock() throws {
    try folder.filled()
    let path = try folder.only(".record")
    let whole = try folder.bytes(path)
    let calls = Guarded<[FileOperation]>([], by: Mutex())
    let watching = FaultyFileSystem(after: { call in calls.withLock { $0.append(call.operation) } })
    let mending = FaultyFileSystem(before: { [folder] call in
      if call.operation == .openLock { try? folder.overwrite(path, whole) }
      return nil
    })
    try folder.overwrite(path, [1, 2, 3])
    try expect(folder.open(system: mending).read(.default)?.registrationType, is: "SOCIAL")
    #expect(try folder.names().allSatisfy { !$0.contains(".corrupt-") })
    try folder.overwrite(path, [1, 2, 3])
    expect(
      code { () throws(EnrollError) in _ = try folder.open(system: watching).read(.default) },
      is: .storeCorrupt)
    let made = calls.withLock { $0 }.filter { [.lock, .renameNew, .closeLock].contains($0) }
    expect(made, is: [.lock, .renameNew, .closeLock])
  }

  @Test("by its name an account is erased at every provider, beside a damaged one, which is told")
  func removalBesideDamage() throws {
    let store = try folder.filled()
    try folder.overwrite(try folder.only(".record"), [1, 2, 3])
    let own = try ["one", "two"].map { client throws(EnrollError) in
      try AccountName("work").belonging(
        to: Configuration(
          issuer: "https://login.example", clientID: client, redirectURI: "com.example.app:/callback"))
    }
    for account in own { try store.update(account) { $0.asksForLogin = true } }
    try store.update(try AccountName("home")) { $0.asksForLogin = true }
    expect(code { () throws(EnrollError) in try store.remove(named: "work") }, is: .storeCorrupt)
    try expect(store.accounts(), is: [AccountName("home")])
    for account in own { try expect(store.read(account), is: nil) }
    try store.remove(named: "never was")
  }

  @Test(
    "what looks at all accounts for a decision of its own leaves the damaged one to the listing that reports it"
  )
  func listingForADecision() throws {
    let store = try folder.filled()
    try folder.overwrite(try folder.only(".record"), [1, 2, 3])
    expect(code { () throws(EnrollError) in _ = try store.accountsWithAttempts() }, is: .storeCorrupt)
    expect(code { () throws(EnrollError) in _ = try store.accounts() }, is: .storeCorrupt)
    try expect(store.accounts(), is: [])
  }

  @Test("one listing sets every damaged record aside, by one error; the next names all other accounts")
  func listingOverDamage() throws {
    let store = try folder.open()
    for number in 0..<6 { try store.update(try AccountName("account-\(number)")) { $0.asksForLogin = true } }
    let damaged = try folder.names(".record").sorted().suffix(3)
    for name in damaged {
      let path = folder.store + "/" + name
      try folder.overwrite(path, Array(try folder.bytes(path).dropLast()))
    }
    var told: EnrollError?
    do throws(EnrollError) { _ = try folder.open().accounts() } catch { told = error }
    let error = try #require(told)
    expect(error.code, is: .storeCorrupt)
    #expect(damaged.contains { error.message.contains($0) })
    #expect(error.message.contains("2 more"))
    let aside = try folder.names().filter { $0.contains(".corrupt-") }.map(StoreNames.original)
    expect(aside.sorted(), is: Array(damaged))
    try expect(folder.open().accounts().count, is: 3)
  }

  @Test("an update over a damaged record tells and sets aside as well, and the next one begins anew")
  func updateOverDamage() throws {
    let clock = FakeClock()
    let store = try folder.filled(clock: clock)
    try folder.overwrite(try folder.only(".record"), [1, 2, 3])
    var asked = false
    let told = code { () throws(EnrollError) in _ = try store.update(.default) { _ in asked = true } }
    expect(told, is: .storeCorrupt)
    #expect(!asked)
    try expect(store.update(.default) { $0.asksForLogin = true }.registrationType, is: nil)
    try expect(folder.names().filter { $0.contains(".corrupt-") }.count, is: 1)
  }

  @Test(
    "a damaged outbox and a damaged installation id are set aside too", arguments: ["outbox", "installation"])
  func damagedStoreFile(_ name: String) throws {
    let store = try folder.filled()
    let entry = OutboxEntry(
      issuer: "i", endpoint: nil, message: .profile(account: "a"), queued: UnixTime(seconds: 1))
    let use = { () throws(EnrollError) in
      if name == "outbox" {
        _ = try store.updateOutbox { $0.append(entry) }
      } else {
        _ = try store.installationID()
      }
    }
    try use()
    var bytes = try folder.bytes(folder.store + "/" + name)
    bytes[bytes.count - 1] ^= 1
    try folder.overwrite(folder.store + "/" + name, bytes)
    expect(code(use), is: .storeCorrupt)
    expect(code(use), is: nil)
    #expect(try folder.names().contains { $0.hasPrefix(name + ".corrupt-") })
  }

  @Test("two accounts' files cannot be swapped, even under each other's names")
  func swapped() throws {
    let store = try folder.filled()
    let first = try folder.only(".record")
    try store.update(try AccountName("other")) { $0.tokenEpoch += 1 }
    let second = try #require(
      try folder.names(".record").map { folder.store + "/" + $0 }.first { $0 != first })
    let bytes = try folder.bytes(second)
    try folder.overwrite(first, bytes)
    expect(reading(), is: .storeCorrupt)
  }

  @Test("without its key file a store is locked, and no new key is made over it")
  func missingKey() throws {
    try folder.filled()
    let key = try folder.bytes(folder.store + "/key")
    try FileManager.default.removeItem(atPath: folder.store + "/key")
    let store = try folder.open()
    expect(code { () throws(EnrollError) in try store.unlock() }, is: .storeLocked)
    expect(code { () throws(EnrollError) in _ = try store.read(.default) }, is: .storeLocked)
    expect(
      code { () throws(EnrollError) in _ = try store.update(.default) { $0.tokenEpoch += 1 } },
      is: .storeLocked)
    expect(code { () throws(EnrollError) in _ = try store.accounts() }, is: .storeLocked)
    #expect(try !folder.names().contains("key"))
    // The open store must work again when the key is back.
    #expect(
      FileManager.default.createFile(
        atPath: folder.store + "/key", contents: Data(key), attributes: [.posixPermissions: 0o600]))
    try expect(store.read(.default), isNot: nil)
  }

  @Test(
    "without its keys file a store with sealed files is locked, and none is made anew",
    arguments: ["record", "outbox", "aside"])
  func missingKeysFile(_ what: String) throws {
    let store = try folder.filled()
    _ = try store.installationID()
    let manager = FileManager.default
    if what != "record" { try manager.removeItem(atPath: try folder.only(".record")) }
    if what == "aside" {
      try manager.moveItem(
        atPath: folder.store + "/installation", toPath: folder.store + "/installation.corrupt-00")
    }
    try manager.removeItem(atPath: folder.store + "/keys")
    expect(code { () throws(EnrollError) in try folder.open().unlock() }, is: .storeLocked)
    #expect(try !folder.names().contains("keys"))
  }

  @Test("another store's key is a wrong key, and nothing is set aside")
  func wrongKey() throws {
    try folder.filled()
    let other = TestFolder()
    try other.filled()
    try folder.overwrite(folder.store + "/key", try other.bytes(other.store + "/key"))
    let before = try folder.names()
    expect(reading(), is: .storeKey)
    try expect(folder.names(), is: before)
  }

  @Test("another store's record is sealed with a wrong key, and is not set aside")
  func foreignRecord() throws {
    try folder.filled()
    let other = TestFolder()
    try other.filled()
    // If all keys are replaced by the keys of the other store, the record of this store does not match them.
    for name in ["key", "keys"] {
      try folder.overwrite(folder.store + "/" + name, try other.bytes(other.store + "/" + name))
    }
    let stranger = try folder.only(".record")
    let own = try other.only(".record")
    try FileManager.default.moveItem(
      atPath: stranger, toPath: folder.store + "/" + URL(fileURLWithPath: own).lastPathComponent)
    let seen = reading()
    #expect(seen == .storeKey || seen == .storeCorrupt)
  }

  @Test(
    "every flipped byte of the keys file or the key file is a typed error, and nothing is rewritten",
    arguments: ["keys", "key"])
  func damagedKeys(_ name: String) throws {
    try folder.filled()
    let path = folder.store + "/" + name
    let whole = try folder.bytes(path)
    var changed = whole
    for index in whole.indices {
      changed[index] ^= 0x01
      try folder.overwrite(path, changed)
      let seen = reading()
      expect(seen, is: .storeCorrupt, "byte \(index)")
      try expect(folder.bytes(path), is: changed)
      changed[index] ^= 0x01
    }
    try folder.overwrite(path, whole)
    expect(reading(), is: nil)
  }

  @Test("a key file elsewhere is made beside others, and a store opened with another provider is refused")
  func otherProvider() throws {
    final class Vault: KeyProvider {
      let name = "vault"
      func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject {
        JSONObject([("key", .string(Base64URL.encode(key.revealBytes())))])
      }
      func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret {
        Secret(Base64URL.decode(wrapped["key"]?.string ?? "") ?? [])
      }
    }
    let store = try folder.open(keys: KeyPlan(.custom(Vault())))
    try store.update(.default) { $0.asksForLogin = true }
    #expect(try !folder.names().contains("key"), "the provider decides where keys are")
    expect(reading(), is: .storeKey)
    try expect(folder.open(keys: KeyPlan(.custom(Vault()))).read(.default)?.asksForLogin, is: true)
    let elsewhere = TestFolder()
    let keyFile = try KeyFileProvider(path: elsewhere.path + "/my key")
    try elsewhere.open(keys: KeyPlan(.custom(keyFile))).update(.default) { $0.asksForLogin = true }
    #expect(FileManager.default.fileExists(atPath: elsewhere.path + "/my key"))
    #expect(try !elsewhere.names().contains("key"))
  }

  @Test("an older copy put back under a running process is noticed (rollback)")
  func rollback() throws {
    let clock = FakeClock()
    let store = try folder.filled(clock: clock)
    let path = try folder.only(".record")
    let old = try folder.bytes(path)
    try store.update(.default) { $0.tokenEpoch += 1 }
    try folder.overwrite(path, old)
    clock.advance(seconds: 2)
    expect(code { () throws(EnrollError) in _ = try store.read(.default) }, is: .storeRefused)
    expect(
      code { () throws(EnrollError) in _ = try store.update(.default) { $0.tokenEpoch += 1 } },
      is: .storeRefused)
    try store.remove(.default)
    try expect(store.read(.default), is: nil)
  }

  @Test("no file of the store holds a secret or an account's name in the clear (R40)")
  func nothingInTheClear() throws {
    let store = try folder.open()
    try store.update(try AccountName("alice@example")) { $0.registrationType = "CANARY" }
    let entry = OutboxEntry(
      issuer: "CANARY", endpoint: nil,
      message: .revocation(.init(clientID: "c", token: Secret("CANARY"), hint: "h")),
      queued: UnixTime(seconds: 1))
    try store.updateOutbox { $0.append(entry) }
    for name in try folder.names() {
      #expect(!name.contains("alice"))
      let text = String(decoding: try folder.bytes(folder.store + "/" + name), as: UTF8.self)
      #expect(!text.contains("CANARY") && !text.contains("alice"), "\(name)")
    }
  }
}
