// The user's keyring in the kernel (keyrings(7)): bytes that stay in kernel memory until they expire, the user's last
// process ends or the machine stops. Every process of the user can read them; other users cannot.

import CPosix
public import EnrollSteps
public import EnrollCrypto
import EnrollPosix

/// Remembers opened keys in the user's keyring.
public final class KernelKeyring: SessionKeyMemory {
  /// The maximum number of bytes that are read. No key of a store has more.
  private static let contentLimit = 512
  // The numbers of KEY_SPEC_THREAD_KEYRING and KEY_SPEC_USER_KEYRING.
  private static let ownThread = -1
  private static let ownUser = -4

  public init() {}

  public func presence() -> KeyPresence {
    if let reason = enroll_posix_missing_keyring() { return .absent(String(cString: reason)) }
    if control(enroll_posix_key_find, Self.ownUser, 1) { return .present }
    return .absent(
      "the kernel refuses its keyring (\(SystemError.message(enroll_posix_errno()))): it was built without, or a sandbox forbids it"
    )
  }

  public func recall(_ name: String) -> Secret? {
    guard let key = find(name) else { return nil }
    var content = [UInt8](repeating: 0, count: Self.contentLimit)
    defer { content.withUnsafeMutableBytes { Wipe.bytes($0) } }
    let count = content.withUnsafeMutableBytes { enroll_posix_key_read(key, $0.baseAddress, $0.count) }
    guard count > 0, count <= content.count else { return nil }
    return content.withUnsafeBytes { Secret(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  public func remember(_ secret: Secret, as name: String, seconds: Int64) {
    guard seconds > 0, seconds <= KeyPlan.longestSessionSeconds else { return }
    // The key is added to the thread's keyring, where no other thread finds it. It is linked to the user's keyring
    // only after its expiry is set: if the process is killed in between, no key without an expiry is left behind.
    let key = secret.withBytes { enroll_posix_key_add(name, $0.baseAddress, $0.count) }
    guard key >= 0 else { return }
    defer { _ = control(enroll_posix_key_unlink, key, Self.ownThread) }
    guard control(enroll_posix_key_set_timeout, key, Int(seconds)),
      // The permissions are given to the user, because processes of the user's other login sessions do not possess the
      // key.
      control(enroll_posix_key_set_permissions, key, enroll_posix_key_own)
    else { return }
    _ = control(enroll_posix_key_link, key, Self.ownUser)
  }

  public func forget(_ name: String) {
    guard let key = find(name) else { return }
    _ = control(enroll_posix_key_unlink, key, Self.ownUser)
  }

  private func control(_ operation: Int32, _ a: Int, _ b: Int) -> Bool {
    enroll_posix_keyctl(operation, a, b) >= 0
  }

  private func find(_ name: String) -> Int? {
    let key = enroll_posix_key_search(name)
    return key >= 0 ? key : nil
  }
}
