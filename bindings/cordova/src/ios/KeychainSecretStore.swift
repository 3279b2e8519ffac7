// Unbuilt for iOS: this was written without Xcode.
//
// The key of the store, wrapped with secrets of the Keychain. They are available after the first unlock of the
// device, so that tokens are renewed in the background, and on this device only, so that no backup restores them
// elsewhere.

import CEnroll
import Foundation
import Security

enum KeychainSecretStore {
  private static let service = "org.enrollkit"
  private static let size = Int(ENROLL_SECRET_SIZE)

  /// Passes the struct to `body`. C copies it during the call; the functions have no state.
  static func withStruct<Outcome>(_ body: (UnsafePointer<enroll_secret_store>) -> Outcome) -> Outcome {
    var secrets = enroll_secret_store()
    enroll_secret_store_init(&secrets, MemoryLayout<enroll_secret_store>.stride)
    secrets.load = { _, name, secret in KeychainSecretStore.load(name, secret) }
    secrets.save = { _, name, secret in KeychainSecretStore.save(name, secret) }
    secrets.remove = { _, name in KeychainSecretStore.remove(name) }
    return withUnsafePointer(to: &secrets, body)
  }

  private static func query(_ name: UnsafePointer<CChar>) -> [CFString: Any] {
    [
      kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: String(cString: name),
      // Never in the iCloud Keychain.
      kSecAttrSynchronizable: false,
    ]
  }

  private static func load(_ name: UnsafePointer<CChar>?, _ secret: UnsafeMutablePointer<UInt8>?) -> enroll_status {
    guard let name, let secret else { return ENROLL_E_INVALID_ARGUMENT }
    var wanted = query(name)
    wanted[kSecReturnData] = true
    wanted[kSecMatchLimit] = kSecMatchLimitOne
    var found: CFTypeRef?
    let status = SecItemCopyMatching(wanted as CFDictionary, &found)
    guard status == errSecSuccess else { return answer(status) }
    guard let data = found as? Data, data.count == size else { return ENROLL_E_STORE_IO }
    data.copyBytes(to: secret, count: size)
    return ENROLL_OK
  }

  private static func save(_ name: UnsafePointer<CChar>?, _ secret: UnsafePointer<UInt8>?) -> enroll_status {
    guard let name, let secret else { return ENROLL_E_INVALID_ARGUMENT }
    let content: [CFString: Any] = [
      kSecValueData: Data(bytes: secret, count: size),
      kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    ]
    let status = SecItemAdd(query(name).merging(content) { _, new in new } as CFDictionary, nil)
    guard status == errSecDuplicateItem else { return answer(status) }
    return answer(SecItemUpdate(query(name) as CFDictionary, content as CFDictionary))
  }

  private static func remove(_ name: UnsafePointer<CChar>?) -> enroll_status {
    guard let name else { return ENROLL_E_INVALID_ARGUMENT }
    return answer(SecItemDelete(query(name) as CFDictionary))
  }

  private static func answer(_ status: OSStatus) -> enroll_status {
    switch status {
    case errSecSuccess: return ENROLL_OK
    case errSecItemNotFound: return ENROLL_E_NOT_FOUND
    // The device has not been unlocked since it was started.
    case errSecInteractionNotAllowed: return ENROLL_E_STORE_LOCKED
    default: return ENROLL_E_STORE_IO
    }
  }
}
