// Reads two structs from C: the choice of a store's key provider, and the host's secret store (a Keychain, a Keystore),
// a struct of function pointers that becomes a SecretStore. These functions run inside a call, like the functions of a
// host's transport (R41).

public import CEnroll
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost

extension KeyPlan {
  /// The key provider that the struct names; nil for NULL, which means the default.
  static func read(_ pointer: UnsafePointer<enroll_keys>?) throws(EnrollError) -> KeyPlan? {
    guard let pointer else { return nil }
    return try KeyPlan(try enroll_keys(reading: pointer))
  }

  private init(_ keys: enroll_keys) throws(EnrollError) {
    let file = try TextInput(keys.file, keys.file_size, "file").text(limit: TextLimit.path)
    let passphrase = try TextInput(keys.passphrase, keys.passphrase_size, "passphrase")
      .bytes(limit: TextLimit.passphrase)
    let provider: KeyPlan.Provider
    switch keys.provider {
    case ENROLL_KEYS_FILE: provider = .file(path: file)
    case ENROLL_KEYS_AUTO: provider = .automatic
    case ENROLL_KEYS_SECRET_SERVICE: provider = .secretService
    case ENROLL_KEYS_PASSPHRASE: provider = .passphrase
    case ENROLL_KEYS_HOST:
      guard let host = keys.host else {
        throw EnrollError(
          .invalidArgument, "ENROLL_KEYS_HOST needs a secret store, got NULL", field: "host")
      }
      provider = .host(try HostSecretStore(host))
    default:
      throw EnrollError(
        .invalidArgument, "provider must be ENROLL_KEYS_*, got \(keys.provider)", field: "provider")
    }
    if file != nil, keys.provider != ENROLL_KEYS_FILE {
      throw EnrollError(.invalidArgument, "file needs the provider ENROLL_KEYS_FILE", field: "file")
    }
    if passphrase != nil, keys.provider != ENROLL_KEYS_PASSPHRASE, keys.provider != ENROLL_KEYS_AUTO {
      throw EnrollError(
        .invalidArgument, "passphrase needs the provider ENROLL_KEYS_PASSPHRASE or ENROLL_KEYS_AUTO",
        field: "passphrase")
    }
    if keys.host != nil, keys.provider != ENROLL_KEYS_HOST {
      throw EnrollError(.invalidArgument, "host needs the provider ENROLL_KEYS_HOST", field: "host")
    }
    self.init(
      provider, passphrase: passphrase.map { Secret(UnsafeRawBufferPointer($0)) },
      sessionCacheSeconds: keys.session_cache_seconds)
  }
}

/// The host's secret store.
final class HostSecretStore: SecretStore, @unchecked Sendable {
  // Unchecked: the host promises that `user_data` may be used by several threads at once.
  private let functions: enroll_secret_store
  private let code = HostCode()

  /// - Throws: `.invalidArgument` if one of the functions is NULL.
  convenience init(_ pointer: UnsafePointer<enroll_secret_store>) throws(EnrollError) {
    let functions = try enroll_secret_store(reading: pointer)
    guard functions.load != nil, functions.save != nil, functions.remove != nil else {
      throw EnrollError(
        .invalidArgument, "a secret store needs load, save and remove; one of them is NULL", field: "host"
      )
    }
    self.init(functions)
  }

  private init(_ functions: enroll_secret_store) { self.functions = functions }

  deinit { functions.release?(functions.user_data) }

  func load(_ name: SecretName) throws(EnrollError) -> Secret? {
    var memory = [UInt8](repeating: 0, count: Int(ENROLL_SECRET_SIZE))
    defer { memory.withUnsafeMutableBytes { Wipe.bytes($0) } }
    let status = name.text.withCString { name in
      memory.withUnsafeMutableBufferPointer { memory in
        code.run {
          functions.load?(functions.user_data, name, memory.baseAddress) ?? ENROLL_E_INTERNAL
        }
      }
    }
    if status == ENROLL_E_NOT_FOUND { return nil }
    try Self.check(status, "load")
    return Secret(memory)
  }

  func save(_ secret: Secret, as name: SecretName) throws(EnrollError) {
    guard secret.count == Int(ENROLL_SECRET_SIZE) else {
      throw EnrollError(.internal, "the secret has \(secret.count) bytes; expected \(ENROLL_SECRET_SIZE)")
    }
    let status = name.text.withCString { name in
      secret.withBytes { bytes in
        code.run {
          functions.save?(
            functions.user_data, name, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
            ?? ENROLL_E_INTERNAL
        }
      }
    }
    try Self.check(status, "save")
  }

  func remove(_ name: SecretName) throws(EnrollError) {
    let status = name.text.withCString { name in
      code.run { functions.remove?(functions.user_data, name) ?? ENROLL_E_INTERNAL }
    }
    if status != ENROLL_E_NOT_FOUND { try Self.check(status, "remove") }
  }

  private static func check(_ status: enroll_status, _ function: String) throws(EnrollError) {
    switch EnrollError.Code(rawValue: status) {
    case nil where status == ENROLL_OK: return
    case .storeLocked:
      throw EnrollError(
        .storeLocked, "the host's secret store is locked: unlock it, and try again", field: "keys")
    default:
      throw EnrollError(
        .storeIO, "the host's secret store could not \(function): it returned \(status)", field: "keys")
    }
  }
}

@_cdecl("enroll_keys_init") @implementation
public func enroll_keys_init(_ keys: UnsafeMutablePointer<enroll_keys>?, _ struct_size: Int) {
  enroll_keys.initialize(keys, size: struct_size)
}

@_cdecl("enroll_secret_store_init") @implementation
public func enroll_secret_store_init(
  _ secret_store: UnsafeMutablePointer<enroll_secret_store>?, _ struct_size: Int
) {
  enroll_secret_store.initialize(secret_store, size: struct_size)
}
