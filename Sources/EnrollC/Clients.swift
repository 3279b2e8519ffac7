// Opening and closing a client.

public import CEnroll
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollPosix

extension ClientOptions {
  init(_ options: enroll_client_options) throws(EnrollError) {
    self.init(configuration: try Self.configuration(options), store: try Self.store(options))
    let account = TextInput(options.account, options.account_size, "account")
    if let name = try account.text(limit: TextLimit.name) { self.account = try AccountName(name) }
    platform = Platform(
      isNative: options.is_not_native == 0,
      type: try Self.fact(options.platform_type, options.platform_type_size, "platform_type"),
      width: options.platform_width == 0 ? nil : options.platform_width,
      height: options.platform_height == 0 ? nil : options.platform_height,
      appVersion: try Self.fact(options.app_version, options.app_version_size, "app_version"),
      deviceID: try Self.fact(options.device_id, options.device_id_size, "device_id"))
    isPlatformReady = options.waits_for_platform == 0
    renewsInBackground = options.renews_in_background != 0
    if let keys = try KeyPlan.read(options.keys) {
      if case .memory = store {
        throw EnrollError(.invalidArgument, "a store in memory takes no keys", field: "keys")
      }
      self.keys = keys
    }
    if let transport = options.transport { self.transport = try HostTransport(transport) }
    if let clock = options.clock { self.clock = try HostClock(clock) }
    if let log = options.log { self.log = try HostLog(log) }
  }

  private static func configuration(_ options: enroll_client_options) throws(EnrollError) -> Configuration {
    let text = TextInput(options.configuration, options.configuration_size, "configuration")
    let json = try JSONInput.parse(try text.requiredBytes(limit: TextLimit.json), "configuration")
    return try Configuration(json: json)
  }

  private static func store(_ options: enroll_client_options) throws(EnrollError) -> StoreChoice {
    let directory = TextInput(options.store_directory, options.store_directory_size, "store_directory")
    switch options.store {
    case ENROLL_STORE_DIRECTORY:
      return .directory(try directory.requiredText(limit: TextLimit.path))
    case ENROLL_STORE_MEMORY:
      guard try directory.text(limit: TextLimit.path) == nil else {
        throw EnrollError(
          .invalidArgument, "a store in memory takes no directory", field: "store_directory")
      }
      return .memory
    default:
      throw EnrollError(
        .invalidArgument, "store must be ENROLL_STORE_*, got \(options.store)", field: "store")
    }
  }

  private static func fact(
    _ pointer: UnsafePointer<CChar>?, _ size: Int, _ name: String
  ) throws(EnrollError) -> String? {
    try TextInput(pointer, size, name).text(limit: TextLimit.fact)
  }
}

extension enroll_client_options {
  /// Whether the client's calls run functions of the host.
  fileprivate var hasHostCode: Bool { transport != nil || keys != nil || clock != nil || log != nil }
}

@_cdecl("enroll_client_options_init") @implementation
public func enroll_client_options_init(
  _ options: UnsafeMutablePointer<enroll_client_options>?, _ struct_size: Int
) {
  enroll_client_options.initialize(options, size: struct_size)
}

@_cdecl("enroll_client_new") @implementation
public func enroll_client_new(
  _ options: UnsafePointer<enroll_client_options>?, _ client: HandleOut?, _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let client = try require(client, "client")
    if HostCode.mark.isSet {
      throw EnrollError(.reentrant, "a host's callback cannot open a client")
    }
    let given = try enroll_client_options(reading: options)
    let callbacks: CallbackExecutor =
      given.queue == nil ? .ownThread : .queue(try PolledQueue.find(given.queue), HostSignalMask())
    let handle = ClientHandle(
      try Client(try ClientOptions(given)), callbacks: callbacks, runsHostCode: given.hasHostCode)
    // The fast path to a token reads the system's clock, so a client with the host's clock has no fast path.
    let word = given.clock == nil ? handle.client.tokenPointer.address : 0
    guard let number = ClientHandle.table.insert(handle, word: word) else {
      handle.close()
      throw EnrollError(.busy, "too many clients are open")
    }
    client.pointee = OpaquePointer(bitPattern: number)
  }
}

@_cdecl("enroll_client_free") @implementation
public func enroll_client_free(_ client: Handle?) -> enroll_status {
  guard let client else { return ENROLL_OK }
  return reporting(to: nil) { () throws(EnrollError) in
    if HostCode.mark.isSet {
      throw EnrollError(.reentrant, "a host's callback cannot free a client")
    }
    guard let handle = ClientHandle.table.remove(UInt(bitPattern: client)) else {
      throw ClientHandle.unknownHandle
    }
    guard !handle.isForkedChild else {
      // The handle is never released: freeing it would touch locks that threads of the parent may have held.
      _ = Unmanaged.passRetained(handle)
      throw EnrollError(.forked, "the client belongs to the parent process; its handle was freed")
    }
    handle.close()
  }
}

@_cdecl("enroll_platform_ready") @implementation
public func enroll_platform_ready(_ client: Handle?, _ error: ErrorOut?) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    try ClientHandle.find(client).client.platformReady()
  }
}
