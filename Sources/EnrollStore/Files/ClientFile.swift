// The store's registered clients, each in a sealed file. The file's name is a tag that is derived from the client's
// `RegistrationName`. Each client has two locks (store.md, Locks). The registration lock is held during the
// registration, across the network, so that many processes register only one client; this lock does not delay the
// registrations of other clients. The write lock is held for one save, as for an account.

public import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollPosix

extension FileTokenStore {
  public func registeredClient(_ name: RegistrationName) throws(EnrollError) -> RegisteredClient? {
    try withCurrentStore { (store) throws(EnrollError) in try ClientFile(name, in: store).readOrSetAside() }
  }

  @discardableResult
  public func updateRegisteredClient(
    _ name: RegistrationName, _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> RegisteredClient? {
    var isUnderWay = false
    return try withCurrentStore(unless: { isUnderWay }) { (store) throws(EnrollError) in
      let file = try ClientFile(name, in: store)
      let (client, refusal) = try file.changeUnderLock {
        (client: inout RegisteredClient?) throws(EnrollError) in
        isUnderWay = true
        registering.withLock { $0[name] = file }
        defer { registering.withLock { $0[name] = nil } }
        try change(&client)
      }
      // The folder was replaced during the change, so the client is saved in the new folder, which other processes use
      // now.
      if let refusal {
        guard let fresh = reopened(instead: store) else { throw refusal }
        try ClientFile(name, in: fresh).save(client)
      }
      return client
    }
  }

  /// Reserves the disk space and the descriptors that the save of the client needs. Call this inside a change of the
  /// client; the reservation lasts until that change ends.
  public func reserveSpace(_ name: RegistrationName) throws(EnrollError) {
    guard let file = registering.withLock({ $0[name] }) else {
      throw EnrollError(.internal, "space for a client is reserved while it is registered")
    }
    try file.reserveSpace()
  }
}

/// One client's file, used by one call.
final class ClientFile: @unchecked Sendable {
  // Unchecked: only the thread that made the object uses it.
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

  /// The saved client; nil if no client was saved. Takes no lock, unless the file is damaged.
  func readOrSetAside() throws(EnrollError) -> RegisteredClient? {
    let damage: EnrollError
    do {
      return try read()
    } catch {
      guard error.code == .storeCorrupt else { throw error }
      damage = error
    }
    // Only the holder of the write lock may rename the file. The file is read again under the lock, because the
    // previous holder of the lock may have replaced the damaged file.
    let held: StoreLock.Held
    do { held = try writing.acquire() } catch { throw damage }
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

  /// Runs `change` while no other thread or process changes this client, even if `change` sends network requests. Then
  /// saves the changed client.
  /// - Returns: the changed client, and an error if this client could not be saved.
  func changeUnderLock(
    _ change: (inout RegisteredClient?) throws(EnrollError) -> Void
  ) throws(EnrollError) -> (client: RegisteredClient?, refusal: EnrollError?) {
    file.folder.removeLeftovers([names.temporary, names.reserve])
    let lock = try FileLock(names.registrationLock, in: file.folder)
    defer { lock.close() }
    try lock.lockDuringCall()
    defer { endReserve() }
    let before = try readOrSetAside()
    var after = before
    try change(&after)
    guard after != before else { return (after, nil) }
    do throws(EnrollError) { try save(after) } catch { return (after, error) }
    return (after, nil)
  }

  /// Saves the client, and replaces any content that the file has: the client may have been registered while another
  /// folder was open.
  func save(_ client: RegisteredClient?) throws(EnrollError) {
    let held = try writing.acquire()
    defer { held.release() }
    guard let client else {
      try file.folder.discard(names.client)
      return try file.folder.sync()
    }
    // If the file has changed since it was read, its generation is read again: the store's keys may have been replaced,
    // and then the file was sealed again with a higher generation.
    if try !file.folder.status(names.client).isSame(as: status) {
      let content = try file.read()
      generation = try content.map { content throws(EnrollError) in try file.open(content).generation } ?? 0
    }
    _ = try file.save(RegisteredClient.encoded(client, of: name), after: generation, reserve: reserved)
  }

  func reserveSpace() throws(EnrollError) {
    let held = try writing.acquire()
    defer { held.release() }
    reserved = try file.folder.reserve(names.reserve, (status?.size ?? 0) + (64 << 10))
    held.keepFileOpen()
  }

  private func endReserve() {
    guard reserved != nil else { return }
    reserved = nil
    writing.closeWhileUnlocked()
    try? file.folder.discard(names.reserve)
  }
}
