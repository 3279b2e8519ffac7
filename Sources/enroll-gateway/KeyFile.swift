// The key file: made for its owner alone, written whole under another name and then renamed, so that no replica reads a half of it. Two
// commands at once add two keys. No key is dropped: one that is missing may be the one that seals.

import CPosix
import EnrollCore
import EnrollCrypto
import EnrollGateway
import EnrollJSON
import EnrollPosix
import EnrollStore

enum KeyFile {
  /// Reads the ring.
  /// - Throws: `.configuration` if others than the owner may read the file, or it holds no keys; `.notFound`.
  static func ring(at path: String) throws(EnrollError) -> KeyRing {
    let json = try UserDirectories.readConfiguration(at: path, called: path)
    guard isForOwnerAlone(path) else {
      throw EnrollError(
        .configuration,
        "the key file \(path) may be read by others than its owner; run chmod 600 \(path)", field: "keys")
    }
    return try KeyRing(json: json)
  }

  /// A credential of systemd belongs to root: the right of the service's user to read it is an entry of its access control list, whose
  /// mask stat(2) shows as the group's right (systemd.exec(5), LoadCredential=).
  private static func isForOwnerAlone(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    let folder = getenv("CREDENTIALS_DIRECTORY").flatMap { String(validatingCString: $0) } ?? ""
    let isCredential = !folder.utf8.isEmpty && path.utf8.starts(with: (folder + "/").utf8)
    return status.st_mode & (isCredential ? 0o007 : 0o077) == 0
  }

  /// Adds a key to the file, which is made if there is none. A symbolic link stays one: its target is written.
  /// - Returns: the new key's id.
  /// - Throws: `.configuration` if the file is full or is none, `.storeIO` if it cannot be written. It is then as it was.
  static func addKey(to path: String, at now: UnixTime) throws(EnrollError) -> String {
    let place = try Place(path)
    defer { close(place.folder) }
    // Until the descriptor is closed: two commands at once add their keys one after the other.
    while flock(place.folder, LOCK_EX) != 0 {
      guard enroll_posix_errno() == EINTR else { throw failure(path) }
    }
    var keys: [JSON] = []
    do throws(EnrollError) {
      _ = try ring(at: place.path)
      keys = try UserDirectories.readConfiguration(at: place.path, called: path)["keys"]?.array ?? []
    } catch {
      guard error.code == .notFound else { throw error }
    }
    guard keys.count < KeyRing.limit else {
      throw EnrollError(
        .configuration,
        "\(path) holds \(keys.count) keys, and a gateway reads no more. Nothing was changed. Remove the entries whose "
          + "created is lowest, but for the last two, then add a key again.", field: "keys")
    }
    removeLeft(in: place)
    let (id, entry) = try newKey(at: now)
    try write(JSON.object([("keys", .array(keys + [entry]))]).serialized() + [0x0A], to: place)
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

  /// Of ``name()``: six bytes as base64url.
  private static let nameCount = 8

  /// Letters, digits and hyphens.
  private static func name() throws(CryptoError) -> String {
    Base64URL.encode(try SystemRandom.bytes(6)).utf8.map { $0 == 0x5F ? "-" : String(UnicodeScalar($0)) }
      .joined()
  }

  /// The file that a path leads to, behind all links, and its folder.
  private struct Place {
    let path: String
    let name: String
    /// Open, for the caller to close.
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

  private static func partPrefix(of place: Place) -> String { ".\(place.name).new-" }

  /// Removes what a command left that was killed: whoever writes another one of these files holds the folder's lock. They have keys.
  private static func removeLeft(in place: Place) {
    let prefix = partPrefix(of: place)
    for name in (try? PosixFileSystem().list(place.folder)) ?? [] where name.utf8.starts(with: prefix.utf8) {
      let rest = name.utf8.dropFirst(prefix.utf8.count)
      guard rest.count == nameCount, rest.allSatisfy({ isOfName($0) }) else { continue }
      _ = unlinkat(place.folder, name, 0)
    }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D: true
    default: false
    }
  }

  private static func write(_ bytes: [UInt8], to place: Place) throws(EnrollError) {
    let part: String
    do throws(CryptoError) { part = partPrefix(of: place) + (try name()) } catch {
      throw EnrollError(.internal, error.message)
    }
    let fd = enroll_posix_openat(place.folder, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard fd >= 0 else { throw failure(place.path) }
    var isDone = false
    defer {
      close(fd)
      if !isDone { _ = unlinkat(place.folder, part, 0) }
    }
    OwnerAccess.complete(file: fd)
    try keepOwner(of: place, for: fd)
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { CPosix.write(fd, $0.baseAddress, $0.count) }
      if count < 0, enroll_posix_errno() == EINTR { continue }
      guard count > 0 else { throw failure(place.path) }
      rest = rest.dropFirst(count)
    }
    guard fsync(fd) == 0, renameat(place.folder, part, place.folder, place.name) == 0 else {
      throw failure(place.path)
    }
    isDone = true
    guard fsync(place.folder) == 0 else { throw failure(place.path) }
  }

  /// Whoever adds a key, the gateway's user goes on reading the file.
  private static func keepOwner(of place: Place, for fd: Int32) throws(EnrollError) {
    var before = stat()
    var new = stat()
    guard fstatat(place.folder, place.name, &before, 0) == 0, fstat(fd, &new) == 0,
      before.st_uid != new.st_uid || before.st_gid != new.st_gid
    else { return }
    guard fchown(fd, before.st_uid, before.st_gid) == 0 else {
      throw EnrollError(
        .storeIO,
        "\(place.path) belongs to user \(before.st_uid), who could not read the new file. Nothing was changed. "
          + "Run this command as that user, or as root.")
    }
  }

  private static func failure(_ path: String) -> EnrollError {
    EnrollError(.storeIO, "\(path) cannot be written: \(SystemError.words(enroll_posix_errno()))")
  }
}
