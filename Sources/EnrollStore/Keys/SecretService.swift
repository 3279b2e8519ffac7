// The keyring of a desktop session, through the Secret Service API of freedesktop.org (gnome-keyring, KWallet,
// KeePassXC) and libsecret. EnrollKit never lets the keyring ask the user to unlock it, because a renewal in the
// background would ask without a visible reason. A locked keyring is reported as locked, and works again once the user
// has unlocked it.
//
// Every call makes a new connection, so that a restart of the service does not matter. The call runs on a separate
// thread with all signals blocked, because GLib's threads inherit the signal mask. The caller waits for that thread
// for a limited time.

import CPosix
import CSecret
public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
import EnrollPosix

/// Stores secrets in the default collection of the Secret Service.
public final class SecretService: SecretStore {
  public static let providerName = "secret-service"
  static let title = "the Secret Service"

  /// How long a caller waits for the service. D-Bus itself allows 25 seconds for a message.
  private static let timeoutSeconds: Int64 = 30

  public init() {}

  public func presence() -> KeyPresence {
    if let missing = Self.missingBus() { return .absent(missing) }
    do throws(EnrollError) {
      return try withConnection { (connection) throws(EnrollError) in connection.presence() }
    } catch {
      // After other errors the service counts as locked, not as absent: otherwise the key would silently go to a key
      // file.
      return error.code == .unsupported ? .absent(error.message) : .locked(error.message)
    }
  }

  public func load(_ name: SecretName) throws(EnrollError) -> Secret? {
    try lockedIfMissing { (connection) throws(EnrollError) in try connection.load(name) }
  }

  public func save(_ secret: Secret, as name: SecretName) throws(EnrollError) {
    // A locked collection is refused here, because libsecret would ask the user to unlock it.
    try lockedIfMissing { (connection) throws(EnrollError) in
      if case .locked(let why) = connection.presence() {
        throw EnrollError(.storeLocked, why, field: "keys")
      }
      try connection.save(secret, as: name)
    }
  }

  public func remove(_ name: SecretName) throws(EnrollError) {
    try lockedIfMissing { (connection) throws(EnrollError) in try connection.remove(name) }
  }

  /// Why no session bus can exist; nil if one may exist. This check comes first, because GLib would start a bus if it
  /// found no address.
  private static func missingBus() -> String? {
    if let address = getenv("DBUS_SESSION_BUS_ADDRESS"), address.pointee != 0 { return nil }
    if let folder = getenv("XDG_RUNTIME_DIR"), folder.pointee != 0,
      access(String(cString: folder) + "/bus", F_OK) == 0
    {
      return nil
    }
    return "there is no session bus: neither DBUS_SESSION_BUS_ADDRESS nor $XDG_RUNTIME_DIR/bus"
  }

  /// Runs `body` for a store whose key is in the service. If the service is missing, the store is reported as locked.
  private func lockedIfMissing<Value: Sendable>(
    _ body: @escaping @Sendable (SecretServiceConnection) throws(EnrollError) -> Value
  ) throws(EnrollError) -> Value {
    if let missing = Self.missingBus() {
      throw EnrollError(
        .storeLocked, "the store's key is in \(Self.title), and \(missing); run in the user's session",
        field: "keys")
    }
    do throws(EnrollError) {
      return try withConnection(body)
    } catch {
      guard error.code == .unsupported else { throw error }
      throw EnrollError(.storeLocked, "the store's key is in \(Self.title): \(error.message)", field: "keys")
    }
  }

  /// The result that the caller and the service's thread share. It is a class, because both threads hold it.
  private final class SharedResult<Value: Sendable>: Sendable {
    let result = Guarded<Result<Value, EnrollError>?>(nil, by: Mutex())
    let over = Event()
  }

  private func withConnection<Value: Sendable>(
    _ body: @escaping @Sendable (SecretServiceConnection) throws(EnrollError) -> Value
  ) throws(EnrollError) -> Value {
    let cancellable = SecretCancellable(try SecretServiceLibrary.functions())
    let shared = SharedResult<Value>()
    let isStarted = BackgroundThread.start {
      let result: Result<Value, EnrollError>
      do throws(EnrollError) {
        result = .success(try body(try SecretServiceConnection(cancellable)))
      } catch {
        result = .failure(error)
      }
      shared.result.withLock { $0 = result }
      shared.over.set()
    }
    guard isStarted else { throw EnrollError.noThread(field: "keys") }
    let clock = SystemClock()
    let timeout = CallTimeout.nanoseconds(atMost: Self.timeoutSeconds * 1_000_000_000)
    let deadline = clock.instant().advanced(byNanoseconds: timeout)
    let cancellation = CallTimeout.cancellation
    let hook = cancellation?.onCancel { shared.over.set() }
    shared.over.wait(until: deadline, by: clock)
    if let hook { cancellation?.removeHook(hook) }
    guard let result = shared.result.withLock({ $0 }) else {
      cancellable.cancel()
      try CallTimeout.check("before \(Self.title) answered")
      throw EnrollError(
        .storeLocked,
        "\(Self.title) did not answer in time: see whether it asks for something",
        field: "keys")
    }
    return try result.get()
  }
}

/// A GCancellable, with which one thread ends another thread's wait.
private final class SecretCancellable: @unchecked Sendable {
  // Unchecked: a GCancellable may be shared between threads.
  let functions: UnsafePointer<enroll_secret>
  let object: UnsafeMutableRawPointer?

  init(_ functions: UnsafePointer<enroll_secret>) {
    self.functions = functions
    object = functions.pointee.g_cancellable_new()
  }

  deinit { if let object { functions.pointee.g_object_unref(object) } }

  func cancel() { functions.pointee.g_cancellable_cancel(object) }
}

/// One connection to the service with a session for secrets, used by one thread.
private final class SecretServiceConnection {
  private static let label = "EnrollKit: key of a token store"
  private static let schema = "org.enrollkit.StoreKey"

  private let functions: UnsafePointer<enroll_secret>
  private let cancellable: SecretCancellable
  private let service: UnsafeMutableRawPointer

  /// First opens the connection to the bus. The cancellation of this call does not cancel this opening, because the
  /// whole process shares the connection to the bus: GLib reports a cancelled opening to every thread that waits for
  /// it, including the threads of the host. If the bus does not answer, only this worker thread blocks; the caller can
  /// still cancel.
  convenience init(_ cancellable: SecretCancellable) throws(EnrollError) {
    let functions = cancellable.functions
    var fault: UnsafeMutablePointer<enroll_secret_error>?
    let bus = functions.pointee.g_bus_get_sync(enroll_secret_session_bus, nil, &fault)
    guard let bus else {
      throw Self.error(.unsupported, "\(SecretService.title) is not there", fault, functions)
    }
    defer { functions.pointee.g_object_unref(bus) }
    let service = functions.pointee.secret_service_open_sync(
      functions.pointee.secret_service_get_type(), nil, enroll_secret_open_session, cancellable.object, &fault
    )
    guard let service else {
      throw Self.error(.unsupported, "\(SecretService.title) is not there", fault, functions)
    }
    self.init(functions, cancellable, owning: service)
  }

  private init(
    _ functions: UnsafePointer<enroll_secret>, _ cancellable: SecretCancellable,
    owning service: UnsafeMutableRawPointer
  ) {
    self.functions = functions
    self.cancellable = cancellable
    self.service = service
  }

  deinit { functions.pointee.g_object_unref(service) }

  func presence() -> KeyPresence {
    var fault: UnsafeMutablePointer<enroll_secret_error>?
    let collection = functions.pointee.secret_collection_for_alias_sync(
      service, "default", 0, cancellable.object, &fault)
    guard let collection else {
      if fault != nil {
        let error = Self.error(.unsupported, "\(SecretService.title) does not answer", fault, functions)
        return error.code == .unsupported ? .absent(error.message) : .locked(error.message)
      }
      return .locked(
        "\(SecretService.title) has no keyring yet: log in to the desktop, or make one, or choose another key provider"
      )
    }
    defer { functions.pointee.g_object_unref(collection) }
    guard functions.pointee.secret_collection_get_locked(collection) == 0 else {
      return .locked(Self.lockedText)
    }
    return .present
  }

  func load(_ name: SecretName) throws(EnrollError) -> Secret? {
    var fault: UnsafeMutablePointer<enroll_secret_error>?
    let items = with(name) { attributes in
      functions.pointee.secret_service_search_sync(
        service, nil, attributes, enroll_secret_search_all | enroll_secret_load_secrets, cancellable.object,
        &fault)
    }
    if fault != nil {
      throw Self.error(.storeLocked, "\(SecretService.title) does not answer", fault, functions)
    }
    defer { release(items) }
    var isLocked = false
    var next = items
    while let item = next {
      next = item.pointee.next
      guard let object = item.pointee.data else { continue }
      if functions.pointee.secret_item_get_locked(object) != 0 { isLocked = true }
      guard let value = functions.pointee.secret_item_get_secret(object) else { continue }
      defer { functions.pointee.secret_value_unref(value) }
      var count = 0
      guard let bytes = functions.pointee.secret_value_get(value, &count) else { continue }
      return Secret(UnsafeRawBufferPointer(start: bytes, count: count))
    }
    if isLocked { throw EnrollError(.storeLocked, Self.lockedText, field: "keys") }
    // Some services do not list the items of a locked collection.
    if items == nil, case .locked(let why) = presence() {
      throw EnrollError(.storeLocked, why, field: "keys")
    }
    return nil
  }

  func save(_ secret: Secret, as name: SecretName) throws(EnrollError) {
    let value = secret.withBytes {
      functions.pointee.secret_value_new(
        $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, "application/octet-stream")
    }
    defer { if let value { functions.pointee.secret_value_unref(value) } }
    var fault: UnsafeMutablePointer<enroll_secret_error>?
    let isStored = with(name) { attributes in
      functions.pointee.secret_service_store_sync(
        service, nil, attributes, "default", Self.label, value, cancellable.object, &fault)
    }
    guard isStored != 0 else {
      throw Self.error(.storeLocked, "\(SecretService.title) did not keep the key", fault, functions)
    }
  }

  func remove(_ name: SecretName) throws(EnrollError) {
    var fault: UnsafeMutablePointer<enroll_secret_error>?
    // The result is ignored: the function returns false, without an error, if there was no such item.
    _ = with(name) { attributes in
      functions.pointee.secret_service_clear_sync(service, nil, attributes, cancellable.object, &fault)
    }
    if fault != nil {
      throw Self.error(.storeLocked, "\(SecretService.title) did not remove a key", fault, functions)
    }
  }

  private static var lockedText: String {
    "the keyring of \(SecretService.title) is locked: unlock it, and try again"
  }

  /// Calls `body` with the attributes that identify the item.
  private func with<Value>(_ name: SecretName, _ body: (UnsafeMutableRawPointer?) -> Value) -> Value {
    var texts: [UnsafeMutablePointer<CChar>?] = []
    let table = enroll_secret_new_table(functions)
    for text in ["xdg:schema", Self.schema, "store", name.storeID, "item", name.item] {
      texts.append(strdup(text))
    }
    for index in stride(from: 0, to: texts.count, by: 2) {
      _ = functions.pointee.g_hash_table_insert(table, texts[index], texts[index + 1])
    }
    defer {
      functions.pointee.g_hash_table_unref(table)
      for text in texts { free(text) }
    }
    return body(table)
  }

  private func release(_ items: UnsafeMutablePointer<enroll_secret_list>?) {
    var next = items
    while let item = next {
      next = item.pointee.next
      if let object = item.pointee.data { functions.pointee.g_object_unref(object) }
    }
    functions.pointee.g_list_free(items)
  }

  /// Makes an error from libsecret's error `fault`, and frees `fault`.
  /// - Returns: `.storeLocked` instead of `code` if the service did not answer, because the service may still exist.
  private static func error(
    _ code: EnrollError.Code, _ text: String, _ fault: UnsafeMutablePointer<enroll_secret_error>?,
    _ functions: UnsafePointer<enroll_secret>
  ) -> EnrollError {
    guard let fault else { return EnrollError(code, text, field: "keys") }
    defer { functions.pointee.g_error_free(fault) }
    let reason = fault.pointee.message.map { String(cString: $0) } ?? "no reason was given"
    let code = enroll_secret_is_silence(functions, fault) == 0 ? code : .storeLocked
    return EnrollError(code, text + ": " + reason, field: "keys")
  }
}
