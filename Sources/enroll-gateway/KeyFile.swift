// The key file. Only its owner can read it. It is written under another name and then renamed, so that no
// replica reads an incomplete file. Two concurrent commands add two keys. No key is removed, because any key
// may be in use.

import CPosix
import EnrollRules
import EnrollCrypto
import EnrollGateway
import EnrollJSON
import EnrollPosix
import EnrollStore

enum KeyFile {
  /// Reads the keys.
  /// - Throws: `.configuration` if users other than the owner may read the file, or it contains no keys; `.notFound`.
  static func ring(at path: String) throws(EnrollError) -> KeyRing {
    let json = try UserDirectories.readConfiguration(at: path, called: path, as: "key file")
    guard isForOwnerAlone(path) else {
      throw EnrollError(
        .configuration,
        "the key file \(path) may be read by others than its owner; run chmod 600 \(path)", field: "keys")
    }
    return try KeyRing(json: json)
  }

  /// Whether only the owner may read the file. A systemd credential belongs to root, and the service's user may read it
  /// through an access control list. The mask of that list appears as the group's permission in stat(2)
  /// (systemd.exec(5), LoadCredential=).
  private static func isForOwnerAlone(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    let folder = getenv("CREDENTIALS_DIRECTORY").flatMap { String(validatingCString: $0) } ?? ""
    let isCredential = !folder.utf8.isEmpty && path.utf8.starts(with: (folder + "/").utf8)
    return status.st_mode & (isCredential ? 0o007 : 0o077) == 0
  }

  /// Adds a key to the file, and creates the file if there is none. If the path is a symbolic link, its
  /// target is written.
  /// - Returns: the new key's id.
  /// - Throws: `.configuration` if the file is full or invalid, `.storeIO` if it cannot be written. The file is then
  ///   unchanged.
  static func addKey(to path: String, at now: UnixTime) throws(EnrollError) -> String {
    let target = try Target(path)
    defer { close(target.folder) }
    // The lock holds until the descriptor is closed: concurrent commands add their keys one after the other.
    while flock(target.folder, LOCK_EX) != 0 {
      guard enroll_posix_errno() == EINTR else { throw failure(path) }
    }
    var keys: [JSON] = []
    do throws(EnrollError) {
      _ = try ring(at: target.path)
      let file = try UserDirectories.readConfiguration(at: target.path, called: path, as: "key file")
      keys = file["keys"]?.array ?? []
    } catch {
      guard error.code == .notFound else { throw error }
    }
    guard keys.count < KeyRing.limit else {
      throw EnrollError(
        .configuration,
        "\(path) holds \(keys.count) keys, and a gateway reads no more. Nothing was changed. Remove the entries whose "
          + "created is lowest, but for the last two, then add a key again.", field: "keys")
    }
    removeLeft(in: target)
    let (id, entry) = try newKey(at: now)
    try write(JSON.object([("keys", .array(keys + [entry]))]).serialized() + [0x0A], to: target)
    return id
  }

  private static func newKey(at now: UnixTime) throws(EnrollError) -> (id: String, entry: JSON) {
    do throws(CryptoError) {
      let id = try name()
      let secret = try SystemRandom.secret(AESGCM.keyCount).revealBytes()
      return (
        id,
        .object([
          ("id", .string(id)), ("created", .integer(now.seconds)),
          ("secret", .string(Base64URL.encode(secret))),
        ])
      )
    } catch {
      throw EnrollError(.internal, error.message)
    }
  }

  /// The length of ``name()``: six bytes in base64url.
  private static let nameCount = 8

  /// A random name of letters, digits and hyphens.
  private static func name() throws(CryptoError) -> String {
    Base64URL.encode(try SystemRandom.bytes(6)).utf8.map { $0 == 0x5F ? "-" : String(UnicodeScalar($0)) }
      .joined()
  }

  /// The file that a path names after all symbolic links, and its folder.
  private struct Target {
    let path: String
    let name: String
    /// The folder's descriptor. The caller closes it.
    let folder: Int32

    init(_ path: String) throws(EnrollError) {
      let target = Self.real(path) ?? path
      guard let slash = target.utf8.lastIndex(of: 0x2F) else {
        throw EnrollError(.configuration, "keys: expected the path of a file", field: "keys")
      }
      self.path = target
      name = String(target[target.utf8.index(after: slash)...])
      let parent = slash == target.startIndex ? "/" : String(target[..<slash])
      folder = enroll_posix_open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
      guard folder >= 0 else { throw KeyFile.failure(path) }
    }

    private static func real(_ path: String) -> String? {
      guard let found = realpath(path, nil) else { return nil }
      defer { free(found) }
      return String(validatingCString: found)
    }
  }

  private static func partPrefix(of target: Target) -> String { ".\(target.name).new-" }

  /// Removes the temporary files of commands that were killed, because they contain keys. A command that
  /// writes such a file holds the folder's lock, so no such file is in use.
  private static func removeLeft(in target: Target) {
    let prefix = partPrefix(of: target)
    for name in (try? PosixFileSystem().list(target.folder)) ?? [] where name.utf8.starts(with: prefix.utf8) {
      let rest = name.utf8.dropFirst(prefix.utf8.count)
      guard rest.count == nameCount, rest.allSatisfy({ isOfName($0) }) else { continue }
      _ = unlinkat(target.folder, name, 0)
    }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D: true
    default: false
    }
  }

  private static func write(_ bytes: [UInt8], to target: Target) throws(EnrollError) {
    let part: String
    do throws(CryptoError) { part = partPrefix(of: target) + (try name()) } catch {
      throw EnrollError(.internal, error.message)
    }
    let fd = enroll_posix_openat(target.folder, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard fd >= 0 else { throw failure(target.path) }
    var isDone = false
    defer {
      close(fd)
      if !isDone { _ = unlinkat(target.folder, part, 0) }
    }
    OwnerPermissions.restore(file: fd)
    try keepOwner(of: target, for: fd)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { CPosix.write(fd, $0.baseAddress, $0.count) }
      if count < 0, enroll_posix_errno() == EINTR { continue }
      guard count > 0 else { throw failure(target.path) }
      rest = rest.dropFirst(count)
    }
    guard fsync(fd) == 0, renameat(target.folder, part, target.folder, target.name) == 0 else {
      throw failure(target.path)
    }
    isDone = true
    guard fsync(target.folder) == 0 else { throw failure(target.path) }
  }

  /// Gives the new file the old file's owner, so that the gateway's user can read it, no matter which user
  /// adds a key.
  private static func keepOwner(of target: Target, for fd: Int32) throws(EnrollError) {
    var before = stat()
    var new = stat()
    guard fstatat(target.folder, target.name, &before, 0) == 0, fstat(fd, &new) == 0,
      before.st_uid != new.st_uid || before.st_gid != new.st_gid
    else { return }
    guard fchown(fd, before.st_uid, before.st_gid) == 0 else {
      throw EnrollError(
        .storeIO,
        "\(target.path) belongs to user \(before.st_uid), who could not read the new file. Nothing was changed. "
          + "Run this command as that user, or as root.")
    }
  }

  private static func failure(_ path: String) -> EnrollError {
    EnrollError(.storeIO, "\(path) cannot be written: \(SystemError.message(enroll_posix_errno()))")
  }
}
