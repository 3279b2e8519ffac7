// Every change of a store on the disk, each with its own beginning. KillPoints interrupts a change at each of its
// system calls, and DiskFaults makes each of its system calls fail.

@testable import EnrollPosix
@testable import EnrollStore
import CPosix
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollTesting
import SystemCalls

/// One change, in one step or several.
struct StoreChange: Sendable {
  /// Called after each step, when the step would return to its caller.
  typealias Acknowledge = () -> Void

  let name: String
  /// Whether the change derives a key from a PIN each time, which makes it a thousand times slower than the others.
  var isDear = false
  /// Makes the store before the change.
  var prepare: @Sendable (StoreSite) throws(EnrollError) -> Void = { site throws(EnrollError) in
    try StoreChange.fill(try site.open())
  }
  /// The formats of the program that makes the change, and of every later program. Today's program made the
  /// store.
  var forms = StoreForms.today
  /// Whether the disk is full when the last step saves.
  var isDiskFull = false
  let make: @Sendable (FileTokenStore, StoreSite, Acknowledge) throws(EnrollError) -> Void
  /// Repeats the change after an interruption, as the user would. By default it does nothing.
  var again: @Sendable (FileTokenStore, StoreSite) throws(EnrollError) -> Void = { _, _ in }

  static func named(_ name: String) throws(EnrollError) -> StoreChange {
    guard let change = all.first(where: { $0.name == name }) else {
      throw EnrollError(.notFound, "no change is called \(name)")
    }
    return change
  }

  /// The store before the change, in a new folder.
  func begin(in path: String) throws(EnrollError) -> StoreSite {
    StoreSite.empty(path)
    var site = StoreSite(path: path)
    try prepare(site)
    if site.has("installation") { site.installation = try site.open().installationID() }
    site.forms = forms
    return site
  }

  /// The contents of the store before the change, after each of its steps, and at the end.
  func states(from beginning: StoreSite, in path: String) throws(EnrollError) -> [[String]] {
    let site = beginning.copied(to: path)
    var states = [site.has("keys") ? try site.state() : StoreSite.nothing]
    var failure: EnrollError?
    try make(try site.open(disk()), site) {
      do throws(EnrollError) { states.append(try site.state()) } catch { failure = error }
    }
    if let failure { throw failure }
    return states
  }

  /// The number of the change's system calls, including the opening of the store.
  func calls(from beginning: StoreSite, in path: String) throws(EnrollError) -> Int {
    let site = beginning.copied(to: path)
    system_calls_begin(system_call_plan(at: 0))
    defer { system_calls_end() }
    try make(try site.open(disk()), site, {})
    return system_calls_end()
  }

  /// The disk for the change.
  func disk() -> any FileSystem {
    guard isDiskFull else { return PosixFileSystem() }
    let saves = Counter()
    return FaultyFileSystem(before: { call in
      guard call.operation == .open, call.name?.hasSuffix(".temp") == true else { return nil }
      return saves.next() == 2 ? .error(ENOSPC) : nil
    })
  }

  static let all: [StoreChange] = [
    StoreChange(name: "first-save", prepare: { _ in }, make: save("new")),
    StoreChange(name: "overwrite", make: save("new " + String(repeating: "x", count: 3000))),
    StoreChange(
      name: "another-account",
      prepare: { site throws(EnrollError) in try save("old")(try site.open(), site, {}) },
      make: { store, _, acknowledge throws(EnrollError) in
        try store.update(try StoreSite.account("other")) { $0.registrationType = "new" }
        acknowledge()
      }),
    StoreChange(name: "renewal", make: renew),
    StoreChange(name: "renewal-on-a-full-disk", isDiskFull: true, make: renew),
    StoreChange(
      name: "delete",
      make: { store, _, acknowledge throws(EnrollError) in
        try store.remove(.default)
        acknowledge()
      }),
    StoreChange(
      name: "delete-by-name",
      make: { store, _, acknowledge throws(EnrollError) in
        try store.remove(named: AccountName.default.text)
        acknowledge()
      }),
    StoreChange(
      name: "move-key",
      make: { store, site, acknowledge throws(EnrollError) in
        try store.replaceKeys(site.elsewhere)
        acknowledge()
      }, again: { store, site throws(EnrollError) in try store.replaceKeys(site.elsewhere) }),
    StoreChange(
      name: "wrap-key-anew",
      make: { store, _, acknowledge throws(EnrollError) in
        try store.replaceKeys(.file)
        acknowledge()
      }),
    StoreChange(
      name: "new-data-key",
      make: { store, _, acknowledge throws(EnrollError) in
        try store.replaceKeys(.file, newDataKey: true)
        acknowledge()
      }),
    StoreChange(
      name: "upgrade", forms: .tomorrow,
      make: { store, site, acknowledge throws(EnrollError) in
        try save("new")(store, site, acknowledge)
        try store.updateOutbox { $0.append(entry("second")) }
        acknowledge()
        try store.replaceKeys(.file, newDataKey: true)
        acknowledge()
      }),
    StoreChange(
      name: "outbox",
      make: { store, _, acknowledge throws(EnrollError) in
        try store.updateOutbox { $0.append(entry("second")) }
        acknowledge()
        try store.updateOutbox { $0.removeFirst() }
        acknowledge()
      }),
    StoreChange(
      name: "installation",
      make: { store, _, acknowledge throws(EnrollError) in
        try store.resetInstallationID()
        acknowledge()
        _ = try store.installationID()
        acknowledge()
      }),
    StoreChange(
      name: "set-pin", isDear: true,
      prepare: { site throws(EnrollError) in try fillGuarded(try site.open()) },
      make: { store, _, acknowledge throws(EnrollError) in
        try store.setPIN(StoreSite.pin, try StoreSite.account("guarded"))
        acknowledge()
      }),
    StoreChange(name: "use-pin", isDear: true, prepare: setPIN, make: usePIN(.unlock)),
    StoreChange(name: "replace-pin", isDear: true, prepare: setPIN, make: usePIN(.replace(StoreSite.newPIN))),
    StoreChange(name: "remove-pin", isDear: true, prepare: setPIN, make: usePIN(.remove)),
  ]

  // MARK: Beginnings

  private static func fill(_ store: FileTokenStore) throws(EnrollError) {
    try store.update(.default) {
      $0.registrationType = "old"
      $0.confirmed = tokens("first")
    }
    try store.update(try StoreSite.account("other")) { $0.registrationType = "kept" }
    try store.updateOutbox { $0.append(entry("first")) }
    _ = try store.installationID()
  }

  private static func fillGuarded(_ store: FileTokenStore) throws(EnrollError) {
    try store.update(try StoreSite.account("guarded")) {
      $0.registrationType = "guarded"
      $0.confirmed = tokens("kept")
    }
  }

  private static let setPIN: @Sendable (StoreSite) throws(EnrollError) -> Void = { site throws(EnrollError) in
    let store = try site.open()
    try fillGuarded(store)
    try store.setPIN(StoreSite.pin, try StoreSite.account("guarded"))
  }

  // MARK: Changes

  private static func save(
    _ type: String
  ) -> @Sendable (FileTokenStore, StoreSite, Acknowledge) throws(EnrollError) -> Void {
    { store, _, acknowledge throws(EnrollError) in
      try store.update(.default) {
        $0.registrationType = type
        $0.confirmed = $0.confirmed ?? tokens("first")
      }
      acknowledge()
    }
  }

  /// The saves of a RenewalStep, in its order: space, intent, tokens.
  private static let renew: @Sendable (FileTokenStore, StoreSite, Acknowledge) throws(EnrollError) -> Void = {
    store, _, acknowledge throws(EnrollError) in
    let epoch = try store.read(.default)?.tokenEpoch ?? 0
    let deadline = SystemClock().instant().advanced(bySeconds: 10)
    _ = try store.withRenewalLock(.default, epoch: epoch, deadline: deadline) { () throws(EnrollError) in
      try store.reserveSpace(.default)
      acknowledge()
      try store.update(.default) {
        $0.renewalIntent = RenewalIntent(
          attempt: "a", tokenEpoch: epoch, refreshTokenHash: "h", bootID: "b", began: UnixTime(seconds: 1))
      }
      acknowledge()
      try store.update(.default) {
        $0.confirmed = tokens("second")
        $0.renewalIntent = nil
        $0.tokenEpoch &+= 1
      }
      acknowledge()
    }
  }

  private static func usePIN(
    _ change: PINChange
  ) -> @Sendable (FileTokenStore, StoreSite, Acknowledge) throws(EnrollError) -> Void {
    { store, _, acknowledge throws(EnrollError) in
      _ = try store.usePIN(StoreSite.pin, try StoreSite.account("guarded"), to: change)
      acknowledge()
    }
  }

  static func tokens(_ name: String, lifetimeSeconds: Int64 = 300) -> TokenSet {
    TokenSet(
      accessToken: Secret("access " + name), tokenType: "Bearer", refreshToken: Secret(name),
      expiry: Expiry(lifetimeSeconds: lifetimeSeconds, from: SystemClock().moment()))
  }

  static func entry(_ name: String) -> OutboxEntry {
    OutboxEntry(
      issuer: Issuer(name), endpoint: nil,
      message: .revocation(.init(clientID: "sample-app", token: Secret("token"), hint: "refresh_token")),
      queued: UnixTime(seconds: 1_800_000_000))
  }
}
