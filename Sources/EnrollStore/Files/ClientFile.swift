// The store's registered clients: a sealed file for each, named after the tag of what it was registered for. Each has two locks of
// its own (store.md, Locks). One is held across the registration: a crowd of processes registers one client, and no other
// registration waits. The other one is held for a save, as that of an account.

public import EnrollCore
import EnrollCrypto
import EnrollPosix

extension FileTokenStore {
  public func registeredClient(_ name: RegistrationName) throws(EnrollError) -> RegisteredClient? {
    try inPlace { (store) throws(EnrollError) in try ClientFile(name, in: store).look() }
  }

  @discardableResult
  public func updateRegisteredClient(
    _ name: RegistrationName, _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> RegisteredClient? {
    var isUnderWay = false
    return try inPlace(unless: { isUnderWay }) { (store) throws(EnrollError) in
      let file = try ClientFile(name, in: store)
      let (client, refusal) = try file.turn { (client: inout RegisteredClient?) throws(EnrollError) in
        isUnderWay = true
        registering.withLock { $0[name] = file }
        defer { registering.withLock { $0[name] = nil } }
        try change(&client)
      }
      // The folder was replaced meanwhile: the client is kept in the new one, where other processes look.
      if let refusal {
        guard let fresh = reopened(instead: store) else { throw refusal }
        try ClientFile(name, in: fresh).save(client)
      }
      return client
    }
  }

  /// Keeps what the save of the client needs, disk space and descriptors, until the end of the change that calls this.
  public func reserveSpace(_ name: RegistrationName) throws(EnrollError) {
    guard let file = registering.withLock({ $0[name] }) else {
      throw EnrollError(.internal, "space for a client is reserved while it is registered")
    }
    try file.reserveSpace()
  }
}

/// One client's file, during one call.
final class ClientFile: @unchecked Sendable {
  // Unchecked: only the thread that made it uses it.
  private let name: RegistrationName
  private let names: ClientFileNames
  private let file: SealedFile
  private let writing: StoreLock
  private var reserved: ReservedSpace?
  /// The generation of the file that was read last.
  private var generation: UInt64 = 0
  private var status: FileStatus?

  convenience init(_ name: RegistrationName, in store: OpenStore) throws(EnrollError) {
    self.init(name, tag: try store.keys().tag("client", name.text), store)
  }

  private init(_ name: RegistrationName, tag: [UInt8], _ store: OpenStore) {
    self.name = name
    names = ClientFileNames(tag: tag)
    file = store.sealedFile(names.client, tag)
    writing = StoreLock(names.writeLock, in: store.folder)
  }

  /// The client that is kept. Takes no lock, unless the file is damaged.
  func look() throws(EnrollError) -> RegisteredClient? {
    let damage: EnrollError
    do {
      return try read()
    } catch {
      guard error.code == .storeCorrupt else { throw error }
      damage = error
    }
    // Under the lock, because only its holder may touch the file; perhaps it has mended the damage already.
    let held: StoreLock.Held
    do { held = try writing.take() } catch { throw damage }
    defer { held.release() }
    do {
      return try read()
    } catch {
      throw error.code == .storeCorrupt ? file.setAside(error) : error
    }
  }

  private func read() throws(EnrollError) -> RegisteredClient? {
    (generation, status) = (0, nil)
    guard let content = try file.read() else { return nil }
    let plaintext: Secret
    (plaintext, generation) = try file.open(content)
    status = content.status
    return try RegisteredClient.decode(plaintext, of: name)
  }

  /// Runs `change` alone among all threads and processes, across the network, and saves what it made.
  /// - Returns: what it made, and why that could not be saved.
  func turn(
    _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> (client: RegisteredClient?, refusal: EnrollError?) {
    file.folder.tidy([names.temporary, names.reserve])
    let lock = try FileLock(names.registrationLock, in: file.folder)
    defer { lock.close() }
    try lock.lockDuringCall()
    defer { endReserve() }
    let before = try look()
    var after = before
    try change(&after)
    guard after != before else { return (after, nil) }
    do throws(EnrollError) { try save(after) } catch { return (after, error) }
    return (after, nil)
  }

  /// Whatever is there: it may have been made in another folder.
  func save(_ client: RegisteredClient?) throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    guard let client else {
      try file.folder.discard(names.client)
      return try file.folder.sync()
    }
    // The store's keys may have been replaced meanwhile, and the file sealed anew.
    if try !file.folder.status(names.client).isSame(as: status) {
      let content = try file.read()
      generation = try content.map { content throws(EnrollError) in try file.open(content).generation } ?? 0
    }
    _ = try file.save(RegisteredClient.encoded(client, of: name), after: generation, reserve: reserved)
  }

  func reserveSpace() throws(EnrollError) {
    let held = try writing.take()
    defer { held.release() }
    reserved = try file.folder.reserve(names.reserve, (status?.size ?? 0) + (64 << 10))
    held.keepFileOpen()
  }

  private func endReserve() {
    guard reserved != nil else { return }
    reserved = nil
    writing.closeBetweenTakings()
    try? file.folder.discard(names.reserve)
  }
}
