// A report on the state of a store. The examination changes nothing: no file is made, locked, repaired or set aside.
// The report contains no secrets.

import CPosix
public import EnrollRules
public import EnrollSteps
import EnrollPosix

/// Facts about the folder of a store.
public struct StoreDiagnosis: Equatable, Sendable {
  /// The maximum number of entries in ``files`` and in ``wrongModes``.
  public static let fileLimit = 1000

  public var owner: UInt32
  /// The permission bits (mask 0o7777).
  public var permissions: UInt32
  /// Names of the providers that have the store's key; empty if the store has no keys yet.
  public var keyProviders: [String] = []
  /// The provider that would get the key of a new store at this path, and the reason.
  public var keyDecision: KeyDecision?
  /// The providers that were examined for the decision.
  public var keyCandidates: [KeyCandidate] = []
  /// The number of sealed account records, readable or not.
  public var accountCount = 0
  /// The number of damaged files that were set aside.
  public var setAsideCount = 0
  /// The sealed files by name, at most ``fileLimit``: files that do not open or were set aside come first. Empty while
  /// the store's key is unavailable.
  public var files: [StoredFile] = []
  /// The number of sealed files that did not fit into ``files``.
  public var omittedFileCount = 0
  /// The store's own files whose permissions are not 0600, at most ``fileLimit``.
  public var wrongModes: [WrongMode] = []
  /// The reason why the store cannot be used; nil if the store can be used.
  public var problem: EnrollError?

  /// A file whose permissions are not 0600.
  public struct WrongMode: Equatable, Sendable {
    /// The name within the store's folder. It does not reveal the account's name.
    public var name: String
    /// The permission bits (mask 0o7777).
    public var permissions: UInt32
  }

  /// - Parameters:
  ///   - path: absolute.
  ///   - keys: the key providers that may have the store's key.
  /// - Returns: nil if there is no such folder.
  /// - Throws: `.invalidArgument` for a relative path; `.storeRefused`, `.storeIO` if the path is not a folder or
  ///   cannot be read.
  public static func examine(
    path: String, keys: KeyPlan = .file, system: any FileSystem = PosixFileSystem()
  ) throws(EnrollError) -> StoreDiagnosis? {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
      throw EnrollError(.invalidArgument, "the store needs an absolute path", field: "store")
    }
    do throws(FileFault) {
      guard
        let folder = try StoreFault.nilIfMissing({ () throws(FileFault) in try system.openFolder(path) })
      else { return nil }
      defer { system.close(folder) }
      let status = try StoreFault.retrying { () throws(FileFault) in try system.status(folder) }
      let names = try StoreFault.retrying { () throws(FileFault) in try system.list(folder) }
      var found = StoreDiagnosis(owner: status.owner, permissions: status.permissions)
      found.count(names)
      found.examineModes(of: names, in: folder, system)
      found.decideKeys(keys, path, system)
      found.examineFiles(at: path, names, keys, system)
      found.examineOwners(of: names, in: folder, system)
      if found.problem == nil { found.problem = StoreWriteCheck.find(in: folder, at: path, names, system) }
      return found
    } catch {
      if error.number == ENOTDIR || error.number == ELOOP {
        throw StoreFolder.notAFolder(path)
      }
      throw StoreFault.error(error, nil, in: path)
    }
  }

  private mutating func count(_ names: [String]) {
    for name in names {
      if AccountFileNames.tag(ofRecord: name) != nil { accountCount += 1 }
      if StoreNames.isSetAside(name) { setAsideCount += 1 }
    }
  }

  private mutating func examineModes(of names: [String], in folder: Int32, _ system: any FileSystem) {
    for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    where wrongModes.count < Self.fileLimit && StoreNames.isOwn(name) {
      guard let status = Self.status(of: name, in: folder, system), status.permissions & 0o777 != 0o600 else {
        continue
      }
      wrongModes.append(WrongMode(name: name, permissions: status.permissions))
    }
  }

  /// Checks the owners of all files of the store. Opening the store checks only the owners of the files that it reads,
  /// not the owners of the lock files.
  private mutating func examineOwners(of names: [String], in folder: Int32, _ system: any FileSystem) {
    guard problem == nil else { return }
    for name in names where problem == nil && StoreNames.isOwn(name) {
      guard let status = Self.status(of: name, in: folder, system) else { continue }
      problem = StoreFault.foreignOwner(status, user: system.user, name)
    }
  }

  /// The status of a file; nil for a file that was removed in the meantime, for a file whose status cannot be read,
  /// and for anything other than a file.
  private static func status(of name: String, in folder: Int32, _ system: any FileSystem) -> FileStatus? {
    let status = try? StoreFault.retrying { () throws(FileFault) in try system.status(name, in: folder) }
    return status?.kind == .file ? status : nil
  }

  private mutating func decideKeys(_ keys: KeyPlan, _ path: String, _ system: any FileSystem) {
    guard let chooser = try? keys.chooser(forStoreAt: path, random: SystemRandomSource(), system: system)
    else {
      return
    }
    keyCandidates = chooser.survey()
    keyDecision = chooser.decision(keyCandidates)
  }

  /// Finds the first problem that a program would have when it uses the store.
  private mutating func examineFiles(
    at path: String, _ names: [String], _ plan: KeyPlan, _ system: any FileSystem
  ) {
    do throws(EnrollError) {
      let folder = try StoreFolder(path, system: system, allowsNetworkFilesystem: false)
      guard let (keys, _) = try KeysFile.read(folder) else {
        if names.contains(where: { StoreNames.isSealed($0) }) {
          throw EnrollError(
            .storeLocked,
            "the keys file is missing while sealed files are there. Without it they cannot be read. Restore it from a backup, or move the store away and sign in again",
            field: EnrollError.keyFileField)
        }
        return
      }
      for slot in keys.slots where !keyProviders.contains(where: { ASCII.equals($0, slot.provider) }) {
        keyProviders.append(slot.provider)
      }
      let store = try FileTokenStore(path: path, keys: plan, clock: SystemClock(), system: system)
      let found = try store.inspect()
      files = found.all
      omittedFileCount = found.omittedCount
    } catch {
      problem = error
    }
  }
}
