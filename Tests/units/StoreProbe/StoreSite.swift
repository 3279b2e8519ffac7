// A store in its own folder. The folder can be copied, so that a change can be tried again and again from the same
// beginning.

@testable import EnrollPosix
@testable import EnrollStore
import CPosix
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost

/// A folder with a store, and with the key file to which the store moves.
struct StoreSite {
  static let pin = Secret("2468")
  static let newPIN = Secret("1357")
  static let accounts = ["other", "guarded"]

  let path: String
  /// The installation id at the beginning; nil if there was none.
  var installation: String?
  /// The formats of the program that uses the store.
  var forms = StoreForms.today

  var store: String { path + "/store" }
  var elsewhere: KeyPlan { KeyPlan(.file(path: path + "/elsewhere")) }

  static func account(_ name: String) throws(EnrollError) -> AccountName { try AccountName(name) }

  /// Opens the store with the first key file or, if that file does not have the store's key, with the key file to which
  /// the store was moved.
  func open(_ system: any FileSystem = PosixFileSystem()) throws(EnrollError) -> FileTokenStore {
    let store = try open(.file, system)
    do throws(EnrollError) {
      try store.unlock()
      return store
    } catch {
      guard error.code == .storeLocked || error.code == .storeKey else { throw error }
      let moved = try open(elsewhere, system)
      try moved.unlock()
      return moved
    }
  }

  func open(_ keys: KeyPlan, _ system: any FileSystem) throws(EnrollError) -> FileTokenStore {
    try FileTokenStore(
      path: store, keys: keys, clock: SystemClock(), random: SystemRandomSource(),
      allowsNetworkFilesystem: false, system: system, forms: forms)
  }

  // MARK: The state of the store

  /// The state of a missing store.
  static let nothing = ["nothing", "other nothing", "guarded nothing", "told later "]

  /// Everything that a new process finds in the store, except random values.
  func state() throws(EnrollError) -> [String] {
    let store = try open()
    var found = [Self.text(try store.read(.default))]
    for name in Self.accounts {
      let account = try Self.account(name)
      let isShut = try store.isUnlocked(account) == false
      found.append(name + " " + (isShut ? "shut" : Self.text(try store.read(account))))
    }
    found.append(
      "told later " + (try store.updateOutbox { _ in }).map { $0.issuer.text }.joined(separator: " "))
    if has("installation") {
      found.append(try store.installationID() == installation ? "installation" : "another installation")
    }
    return found
  }

  func has(_ name: String) -> Bool { names(of: store).contains(name) }

  private static func text(_ record: AccountRecord?) -> String {
    guard let record else { return "nothing" }
    let type = record.registrationType?.split(separator: " ").first.map(String.init) ?? "-"
    let token = record.confirmed?.refreshToken?.reveal() ?? "no token"
    return type + ", " + token + (record.renewalIntent == nil ? "" : ", being spent")
  }

  /// Files that no program will ever read again. Files that the store has moved aside are listed, too, although the
  /// store keeps them on purpose.
  func leftBehind() throws(EnrollError) -> [String] {
    if strangers.isEmpty { return [] }
    // The files are made older first: several stores may use one key file without a common lock, so only an old
    // temporary file is certainly left over.
    age()
    _ = try open().accounts()
    return strangers
  }

  private var strangers: [String] {
    let lasting = ["key", "keys", "outbox", "installation", "store.lock", "keys.lock"]
    let inStore = names(of: store).filter { name in
      !lasting.contains(name)
        && ![".record", ".write", ".renew", ".provider"].contains { name.hasSuffix($0) }
    }
    return inStore + names(of: path).filter { !["store", "elsewhere"].contains($0) }
  }

  /// Changes the times of all files to a day ago.
  private func age() {
    for folder in [path, store] {
      for name in names(of: folder) where name != "store" { setAge(folder + "/" + name) }
    }
  }

  private func setAge(_ path: String) {
    var status = stat()
    stat(path, &status)
    var times = [status.st_mtim, status.st_mtim]
    for index in times.indices { times[index].tv_sec -= 86_400 }
    utimensat(AT_FDCWD, path, &times, 0)
  }

  private func names(of path: String) -> [String] {
    let system = PosixFileSystem()
    guard let folder = try? system.openFolder(path) else { return [] }
    defer { system.close(folder) }
    return (try? system.list(folder)) ?? []
  }

  // MARK: Use after the change

  /// Plays everything that a program may do next with the store. Each step must work, and its result must be in the
  /// store afterwards.
  /// - Throws: the first step that failed.
  func goOn(with store: FileTokenStore) throws(EnrollError) {
    try unlock(with: store)
    let token = try store.read(.default)?.confirmed?.refreshToken
    let epoch = try store.update(.default) {
      $0.registrationType = "next"
      $0.asksForLogin.toggle()
    }.tokenEpoch
    try expect(
      try store.read(.default)?.confirmed?.refreshToken == token, "the token is lost by the next save")
    let deadline = SystemClock().instant().advanced(bySeconds: 10)
    let result = try store.withRenewalLock(.default, epoch: epoch, deadline: deadline) {
      () throws(EnrollError) in
      try store.reserveSpace(.default)
      try store.update(.default) {
        $0.confirmed = StoreChange.tokens("last")
        $0.renewalIntent = nil
        $0.tokenEpoch &+= 1
      }
    }
    try expect(result == .acquired, "the next renewal lock: \(result)")
    try store.updateOutbox { $0.append(StoreChange.entry("next")) }
    try expect(try store.installationID().utf8.count == 22, "no installation id")
    let again = try open()
    try expect(
      try again.read(.default).map(Self.text) == "next, last",
      "the next save, or the next token, is not there")
    try expect(try again.updateOutbox { _ in }.last?.issuer == "next", "the outbox is not there")
    try expect(try again.accounts().contains(.default), "the account is not listed")
  }

  /// Unlocks the account that has a PIN, with the old or the new PIN.
  private func unlock(with store: FileTokenStore) throws(EnrollError) {
    let guarded = try Self.account("guarded")
    guard try store.isUnlocked(guarded) == false else { return }
    if try store.usePIN(Self.pin, guarded, to: .unlock).outcome != .unlocked {
      try expect(try store.usePIN(Self.newPIN, guarded, to: .unlock).outcome == .unlocked, "no PIN opens it")
    }
    try expect(try store.read(guarded).map(Self.text) == "guarded, kept", "what the PIN guards is lost")
  }

  private func expect(_ isTrue: Bool, _ text: String) throws(EnrollError) {
    if !isTrue { throw EnrollError(.internal, text) }
  }

  // MARK: Copies

  /// A copy of the store in another folder, which is emptied first.
  func copied(to path: String) -> StoreSite {
    Self.empty(path)
    for name in names(of: self.path) where name != "store" {
      Self.copy(self.path + "/" + name, path + "/" + name)
    }
    if names(of: self.path).contains("store") {
      mkdir(path + "/store", 0o700)
      for name in names(of: store) { Self.copy(store + "/" + name, path + "/store/" + name) }
    }
    return StoreSite(path: path, installation: installation, forms: forms)
  }

  static func empty(_ path: String) {
    let old = StoreSite(path: path)
    for name in old.names(of: old.store) { unlink(old.store + "/" + name) }
    rmdir(old.store)
    for name in old.names(of: path) { unlink(path + "/" + name) }
    mkdir(path, 0o700)
  }

  private static func copy(_ old: String, _ new: String) {
    let from = enroll_posix_open(old, O_RDONLY | O_CLOEXEC, 0)
    let to = enroll_posix_open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    defer {
      close(from)
      close(to)
    }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(from, &bytes, bytes.count), count > 0 { write(to, bytes, count) }
  }
}
