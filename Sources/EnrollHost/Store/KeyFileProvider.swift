// The key in a file of mode 0600: the default where there is no keyring. It keeps a copy of the store's files from being
// read without it; whoever can read the user's files can read both (SECURITY.md).

public import EnrollCore
public import EnrollCrypto
public import EnrollJSON

/// Guards the store with a key file.
public final class KeyFileProvider: KeyProvider {
  public static let providerName = "file"

  private static let magic: [UInt8] = Array("ENROLLKEY1".utf8)
  private static let checksumCount = 8

  public let name = KeyFileProvider.providerName
  private let folderPath: String
  private let fileName: String
  private let system: any FileSystem
  private let random: any RandomSource

  /// - Parameter path: absolute; made when a store is made with it and it does not exist, in a folder that does.
  /// - Throws: `.invalidArgument` for a path that is not absolute.
  public convenience init(
    path: String, random: any RandomSource = SystemRandomSource(), system: any FileSystem = PosixFileSystem()
  ) throws(EnrollError) {
    let bytes = Array(path.utf8)
    guard bytes.first == UInt8(ascii: "/"), !bytes.contains(0),
      let slash = bytes.lastIndex(of: UInt8(ascii: "/")),
      slash < bytes.count - 1
    else {
      throw EnrollError(.invalidArgument, "the key file wants an absolute path", field: "store")
    }
    self.init(
      folderPath: slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self),
      fileName: String(decoding: bytes[(slash + 1)...], as: UTF8.self), random: random, system: system)
  }

  private init(folderPath: String, fileName: String, random: any RandomSource, system: any FileSystem) {
    self.folderPath = folderPath
    self.fileName = fileName
    self.system = system
    self.random = random
  }

  public func wrap(_ key: Secret, slot: KeySlot) throws(EnrollError) -> JSONObject {
    let folder = try StoreFolder(foreign: folderPath, system: system)
    let wrappingKey: Secret
    if let present = try read(folder) { wrappingKey = present } else { wrappingKey = try make(folder) }
    // Another process may have made it this moment: the store must not outlive its key. Not every folder can be synced.
    try? folder.sync()
    return try KeyWrapping.wrap(key, under: wrappingKey, slot: slot, provider: name, random: random)
  }

  public func unwrap(_ wrapped: JSONObject, slot: KeySlot) throws(EnrollError) -> Secret {
    let folder = try StoreFolder(foreign: folderPath, system: system)
    guard let wrappingKey = try read(folder) else {
      throw EnrollError(
        .storeLocked, "the key file is missing; without it the store cannot be read", field: "store")
    }
    return try KeyWrapping.unwrap(wrapped, under: wrappingKey, slot: slot, provider: name)
  }

  private func read(_ folder: StoreFolder) throws(EnrollError) -> Secret? {
    guard let (bytes, _) = try folder.read(fileName, limit: 4096) else { return nil }
    var content = bytes
    defer { content.withUnsafeMutableBytes { Wipe.bytes($0) } }
    let body = Self.magic.count + KeyWrapping.keyCount
    guard content.count == body + Self.checksumCount, content.starts(with: Self.magic),
      try content[body...].elementsEqual(checksum(content[..<body]))
    else {
      throw EnrollError(.storeCorrupt, "the key file is damaged", field: "store")
    }
    return content.withUnsafeBytes { Secret(UnsafeRawBufferPointer(rebasing: $0[Self.magic.count..<body])) }
  }

  private func make(_ folder: StoreFolder) throws(EnrollError) -> Secret {
    var content = Self.magic + (try random.bytes(KeyWrapping.keyCount))
    defer { content.withUnsafeMutableBytes { Wipe.bytes($0) } }
    content += try checksum(content[...])
    // A name of its own: two stores may be made with one key file at the same time.
    let suffix = Base64URL.encode(try random.bytes(12))
    _ = try folder.make(fileName, with: content, temporary: "\(fileName).temp-\(suffix)")
    // Ours, or that of somebody who was faster.
    guard let key = try read(folder) else {
      throw EnrollError(.storeIO, "the key file vanished while it was made", field: "store")
    }
    return key
  }

  private func checksum(_ bytes: ArraySlice<UInt8>) throws(EnrollError) -> ArraySlice<UInt8> {
    try SealedFormat.crypto { () throws(CryptoError) in
      try Digest.sha256.hash(Array(bytes))[..<Self.checksumCount]
    }
  }
}
