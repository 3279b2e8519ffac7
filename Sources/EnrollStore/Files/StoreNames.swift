// The names of a store's files. Account names never appear in them: a file is named after the account's tag.

import EnrollRules

/// The names that belong to one account.
struct AccountFileNames {
  private static let recordSuffix = ".record"
  private static let writeLockSuffix = ".write"
  private static let temporarySuffix = StoreNames.temporary("")
  private static let reserveSuffix = StoreNames.reserveSuffix

  /// The beginning of all names of the account: its tag as 32 hexadecimal digits.
  let stem: String

  init(tag: [UInt8]) { stem = StoreNames.hex(tag) }

  var record: String { stem + Self.recordSuffix }
  /// The name of the record's file while it is being written.
  var temporary: String { stem + Self.temporarySuffix }
  /// The name of the file that reserves disk space for the next change of tokens.
  var reserve: String { stem + Self.reserveSuffix }
  var renewLock: String { stem + ".renew" }
  var writeLock: String { stem + Self.writeLockSuffix }

  /// The tag in the name of a record's file; nil for the name of any other file.
  static func tag(ofRecord name: String) -> [UInt8]? { tag(name, recordSuffix) }

  /// The tag in the name of a write lock, which exists before the record does; nil for the name of any other file.
  static func tag(ofWriteLock name: String) -> [UInt8]? { tag(name, writeLockSuffix) }

  /// The locks that a process holds while it writes this temporary file or fills this reserve, in the order in which
  /// they are locked; nil for any other file.
  static func locks(ofTemporary name: String) -> [String]? {
    if let tag = tag(name, temporarySuffix) { return [AccountFileNames(tag: tag).writeLock] }
    guard let tag = tag(name, reserveSuffix) else { return nil }
    let names = AccountFileNames(tag: tag)
    return [names.renewLock, names.writeLock]
  }

  fileprivate static func tag(_ name: String, _ suffix: String) -> [UInt8]? {
    // Most names belong to other files, so this check allocates nothing.
    guard name.utf8.count == 32 + suffix.utf8.count, StoreNames.ends(name, suffix) else { return nil }
    let bytes = Array(name.utf8)
    var tag: [UInt8] = []
    for index in stride(from: 0, to: 32, by: 2) {
      guard let high = StoreNames.digit(bytes[index]), let low = StoreNames.digit(bytes[index + 1]) else {
        return nil
      }
      tag.append(high << 4 | low)
    }
    return tag
  }
}

/// The names that belong to one registered client.
struct ClientFileNames {
  private static let clientSuffix = ".client"
  private static let temporarySuffix = StoreNames.temporary(clientSuffix)
  private static let reserveSuffix = clientSuffix + StoreNames.reserveSuffix

  private let stem: String
  /// The name of the write lock, as for an account.
  let writeLock: String

  init(tag: [UInt8]) {
    stem = StoreNames.hex(tag)
    writeLock = AccountFileNames(tag: tag).writeLock
  }

  var client: String { stem + Self.clientSuffix }
  /// The name of the client's file while it is being written.
  var temporary: String { stem + Self.temporarySuffix }
  /// The name of the file that reserves disk space for a client that is being registered.
  var reserve: String { stem + Self.reserveSuffix }
  /// The name of the lock that is held while the client is being registered.
  var registrationLock: String { stem + ".register" }

  /// The tag in the name of a client's file; nil for the name of any other file.
  static func tag(ofClient name: String) -> [UInt8]? { AccountFileNames.tag(name, clientSuffix) }

  /// See ``AccountFileNames/locks(ofTemporary:)``.
  static func locks(ofTemporary name: String) -> [String]? {
    if let tag = AccountFileNames.tag(name, temporarySuffix) { return [ClientFileNames(tag: tag).writeLock] }
    guard let tag = AccountFileNames.tag(name, reserveSuffix) else { return nil }
    let names = ClientFileNames(tag: tag)
    return [names.registrationLock, names.writeLock]
  }
}

enum StoreNames {
  /// Whether a lock file has this name.
  static func isLock(_ name: String) -> Bool {
    [".write", ".renew", ".register", ".lock"].contains { ends(name, $0) }
  }

  static let outbox = "outbox"
  static let installation = "installation"
  static let lock = "store.lock"
  /// The lock that is held while keys are replaced.
  static let keysLock = "keys.lock"
  static let keys = "keys"
  /// The key file, if the store's key is in a file in the store's folder.
  static let key = "key"

  private static let providerSuffix = ".provider"
  private static let temporarySuffix = ".temp"
  fileprivate static let reserveSuffix = ".reserve"

  /// The name of the file with the documents of the provider with that tag.
  static func provider(_ tag: [UInt8]) -> String { hex(tag) + providerSuffix }

  /// The tag in the name of a provider's file; nil for any other file.
  static func tag(ofProvider name: String) -> [UInt8]? { AccountFileNames.tag(name, providerSuffix) }

  /// The name of a file while it is being written.
  static func temporary(_ name: String) -> String { name + temporarySuffix }

  /// The temporary names of the store's own files.
  static let ownTemporaries = [outbox, installation, keys].map { temporary($0) }

  /// See ``AccountFileNames/locks(ofTemporary:)``.
  static func locks(ofTemporary name: String) -> [String]? {
    guard ends(name, temporarySuffix) || ends(name, reserveSuffix) else { return nil }
    for own in [outbox, installation] where ASCII.equals(name, temporary(own)) { return [lock] }
    if ASCII.equals(name, temporary(keys)) { return [keysLock, lock] }
    if AccountFileNames.tag(name, temporary(providerSuffix)) != nil { return [lock] }
    return ClientFileNames.locks(ofTemporary: name) ?? AccountFileNames.locks(ofTemporary: name)
  }

  /// Whether the file cannot be read without the store's keys. The files of providers do not count.
  static func isSealed(_ name: String) -> Bool {
    AccountFileNames.tag(ofRecord: name) != nil || ClientFileNames.tag(ofClient: name) != nil
      || ASCII.equals(name, outbox) || ASCII.equals(name, installation) || isSetAside(name)
  }

  /// Whether a file of that name belongs to the store permanently.
  static func isOwn(_ name: String) -> Bool {
    if isSealed(name) || tag(ofProvider: name) != nil { return true }
    for own in [keys, key, lock, keysLock] where ASCII.equals(name, own) { return true }
    return [".renew", ".write", ".register"].contains { AccountFileNames.tag(name, $0) != nil }
  }

  /// A unique name for a damaged file.
  static func setAside(_ name: String, _ random: [UInt8]) -> String { name + corrupt + hex(random) }

  static func isSetAside(_ name: String) -> Bool { endOfOriginal(name) != nil }

  /// The name that a file had before it was set aside; for a file that was not set aside, its present name.
  static func original(_ name: String) -> String {
    guard let end = endOfOriginal(name) else { return name }
    return String(decoding: name.utf8.prefix(end), as: UTF8.self)
  }

  /// The number of bytes before the mark of files that were set aside; nil if the name does not have the mark.
  private static func endOfOriginal(_ name: String) -> Int? {
    let bytes = name.utf8
    var start = bytes.startIndex
    var index = 0
    while index + corrupt.utf8.count <= bytes.count {
      if bytes[start] == UInt8(ascii: "."), bytes[start...].starts(with: corrupt.utf8) { return index }
      start = bytes.index(after: start)
      index += 1
    }
    return nil
  }

  /// Whether a name ends with the suffix.
  fileprivate static func ends(_ name: String, _ suffix: String) -> Bool {
    let bytes = name.utf8
    guard bytes.count >= suffix.utf8.count else { return false }
    return bytes[bytes.index(bytes.endIndex, offsetBy: -suffix.utf8.count)...].elementsEqual(suffix.utf8)
  }

  private static let corrupt = ".corrupt-"

  static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
