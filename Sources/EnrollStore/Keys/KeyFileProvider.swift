// Keeps the store's key in a file with mode 0600. This is the default if there is no keyring. A copy of the store's
// other files cannot be read without the key file. But a program that can read the user's files can read the key file,
// too (SECURITY.md).
//
// The file has `ENROLLKEY1`, one or more keys of 32 bytes with the newest first, and the first 8 bytes of the SHA-256
// of everything before them. The file has several keys only while a store moves from one key to the next, or if
// several stores share the file.

public import EnrollRules
public import EnrollSteps
public import EnrollCrypto
public import EnrollJSON
public import EnrollPosix

/// Wraps the store's keys with a key file.
public final class KeyFileProvider: KeyProvider {
  public static let providerName = "file"

  private static let magic: [UInt8] = Array("ENROLLKEY1".utf8)
  private static let checksumCount = 8
  /// The maximum number of keys in one file.
  private static let keyLimit = 16
  /// The number of random bytes in the name of a temporary file.
  private static let temporaryCount = 12
  /// The age from which on temporary files are removed. It is one hour, which is longer than any write takes.
  private static let temporaryLifetimeNanoseconds: Int64 = 3_600_000_000_000

  public let name = KeyFileProvider.providerName
  private let folderPath: String
  private let fileName: String
  private let isShared: Bool
  private let system: any FileSystem
  private let random: any RandomSource

  /// - Parameters:
  ///   - path: the absolute path of the key file. A missing file is created with a new store; its folder must exist.
  ///   - isShared: whether other stores may use the file. If so, no key is ever removed from it.
  /// - Throws: `.invalidArgument` for a path that is not absolute.
  public convenience init(
    path: String, isShared: Bool = true, random: any RandomSource = SystemRandomSource(),
    system: any FileSystem = PosixFileSystem()
  ) throws(EnrollError) {
    let bytes = Array(path.utf8)
    guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0),
      let slash = bytes.lastIndex(of: UInt8(ascii: "/")),
      slash < bytes.count - 1
    else {
      throw EnrollError(.invalidArgument, "the key file needs an absolute path", field: "store")
    }
    self.init(
      folderPath: slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self),
      fileName: String(decoding: bytes[(slash + 1)...], as: UTF8.self), isShared: isShared, random: random,
      system: system)
  }

  private init(
    folderPath: String, fileName: String, isShared: Bool, random: any RandomSource, system: any FileSystem
  ) {
    self.folderPath = folderPath
    self.fileName = fileName
    self.isShared = isShared
    self.system = system
    self.random = random
  }

  public func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject {
    let folder = try openFolder()
    let wrappingKey: Secret
    if let present = try read(folder)?.first { wrappingKey = present } else { wrappingKey = try make(folder) }
    // The key file must be durable before a store depends on it, and another process may have created it just now. Some
    // folders cannot be synced, so an error is ignored.
    try? folder.sync()
    return try KeyWrapping.wrap(key, under: wrappingKey, slot: slot, provider: name, random: random)
  }

  public func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret {
    guard let keys = try read(try openFolder()) else {
      throw EnrollError(
        .storeLocked,
        "the key file is missing: \(StoreFault.printable(folderPath + "/" + fileName)). Without it the store cannot be read. Restore it"
          + " from a backup, or move the store away and sign in again",
        field: EnrollError.keyFileField)
    }
    return try unwrap(wrapped, slot, keys).key
  }

  private func unwrap(
    _ wrapped: JSONObject, _ slot: KeySlot, _ keys: [Secret]
  ) throws(EnrollError) -> (key: Secret, index: Int) {
    var failure = EnrollError(.storeKey, "the key file holds no key", field: "store")
    for (index, key) in keys.enumerated() {
      do throws(EnrollError) {
        return (try KeyWrapping.unwrap(wrapped, under: key, slot: slot, provider: name), index)
      } catch {
        guard error.code == .storeKey else { throw error }
        failure = error
      }
    }
    throw failure
  }

  public func renew() throws(EnrollError) {
    let folder = try openFolder()
    guard let keys = try read(folder) else { return }
    guard keys.count < Self.keyLimit else {
      throw EnrollError(
        .storeRefused, "the key file holds \(keys.count) keys already: move the store to another file",
        field: "keys")
    }
    var material = try random.bytes(KeyWrapping.keyCount)
    defer { material.withUnsafeMutableBytes { Wipe.bytes($0) } }
    try replace(folder, [Secret(material)] + keys)
  }

  public func discard(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) {
    guard !isShared else { return }
    let folder = try openFolder()
    guard let keys = try read(folder), let newest = keys.first else { return }
    // A new slot is always wrapped with the newest key. So if the discarded slot was wrapped with the newest key, the
    // store has moved to another provider, and the file is removed. Otherwise the file keeps only the newest key.
    guard try unwrap(wrapped, slot, keys).index == 0 else { return try replace(folder, [newest]) }
    try folder.discard(fileName)
    try folder.sync()
  }

  // MARK: The file

  private func openFolder() throws(EnrollError) -> StoreFolder {
    try StoreFolder(foreign: folderPath, system: system)
  }

  private func read(_ folder: StoreFolder) throws(EnrollError) -> [Secret]? {
    guard let (bytes, _) = try folder.read(fileName, limit: 4096) else { return nil }
    var content = bytes
    defer { content.withUnsafeMutableBytes { Wipe.bytes($0) } }
    let start = Self.magic.count
    let body = content.count - Self.checksumCount
    guard body > start, (body - start) % KeyWrapping.keyCount == 0, content.starts(with: Self.magic),
      try content[body...].elementsEqual(checksum(content[..<body]))
    else {
      throw EnrollError(.storeCorrupt, "the key file is damaged", field: "store")
    }
    return content.withUnsafeBytes { bytes in
      stride(from: start, to: body, by: KeyWrapping.keyCount).map {
        Secret(UnsafeRawBufferPointer(rebasing: bytes[$0..<($0 + KeyWrapping.keyCount)]))
      }
    }
  }

  private func encoded(_ keys: [Secret]) throws(EnrollError) -> [UInt8] {
    var content = Self.magic
    for key in keys { key.withBytes { content += $0 } }
    return content + (try checksum(content[...]))
  }

  private func make(_ folder: StoreFolder) throws(EnrollError) -> Secret {
    var material = try random.bytes(KeyWrapping.keyCount)
    defer { material.withUnsafeMutableBytes { Wipe.bytes($0) } }
    var content = try encoded([Secret(material)])
    defer { content.withUnsafeMutableBytes { Wipe.bytes($0) } }
    _ = try folder.make(fileName, with: content, temporary: try temporaryName())
    // Reads the key back: it is the key that this call has written, or the key of another process that created the file
    // first.
    guard let key = try read(folder)?.first else {
      throw EnrollError(.storeIO, "the key file vanished while it was made", field: "store")
    }
    return key
  }

  private func replace(_ folder: StoreFolder, _ keys: [Secret]) throws(EnrollError) {
    var content = try encoded(keys)
    defer { content.withUnsafeMutableBytes { Wipe.bytes($0) } }
    _ = try folder.replace(fileName, with: content, temporary: try temporaryName())
  }

  /// A unique name for a temporary file, because two stores may be created with one key file at the same time.
  private func temporaryName() throws(EnrollError) -> String {
    temporaryMark + Base64URL.encode(try random.bytes(Self.temporaryCount))
  }

  private var temporaryMark: String { fileName + ".temp-" }

  /// Removes temporary files that are old. Their age decides, because other stores may share the file, and no lock
  /// shows whether they are using it.
  public func removeLeftovers() {
    guard let folder = try? openFolder(), let names = try? folder.names() else { return }
    let mark = Array(temporaryMark.utf8)
    for name in names where name.utf8.starts(with: mark) {
      guard let rest = Base64URL.decode(String(decoding: name.utf8.dropFirst(mark.count), as: UTF8.self)),
        rest.count == Self.temporaryCount, let modified = (try? folder.status(name))?.modified
      else { continue }
      let (age, overflow) = SystemClock.realTime().subtractingReportingOverflow(modified)
      if !overflow, age > Self.temporaryLifetimeNanoseconds { try? folder.discard(name) }
    }
  }

  private func checksum(_ bytes: ArraySlice<UInt8>) throws(EnrollError) -> ArraySlice<UInt8> {
    try SealedFormat.crypto { () throws(CryptoError) in
      try Digest.sha256.hash(Array(bytes))[..<Self.checksumCount]
    }
  }
}
