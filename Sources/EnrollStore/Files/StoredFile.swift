// The sealed files of a store one by one, for diagnosis: which files open, which files do not open and why, and which
// files were set aside and can be put back. Nothing is changed. The result has no secret and no account name.

public import EnrollRules
import EnrollSteps
public import EnrollJSON
import EnrollPosix

/// The facts about one sealed file.
public struct StoredFile: Equatable, Sendable {
  public enum Kind: String, Sendable { case account, outbox, installation, provider, client }

  /// The name within the store's folder. It does not reveal the account's name.
  public var name: String
  public var kind: Kind
  /// The file's name before it was set aside as damaged; nil if it was not set aside. To put the file back, rename it
  /// to this name at a time when no process uses the store.
  public var originalName: String?
  /// A number that increases by one with every save of the file; nil if the header cannot be read.
  public var generation: UInt64?
  /// Why the file does not open; nil if it opens.
  public var problem: EnrollError?
  /// The content of an account's record, without secrets; nil while a PIN locks it, and if the file holds no record.
  public var account: JSONObject?
  public var isUnderPIN = false
  /// The number of messages that servers have not received yet.
  public var entryCount: Int?
}

/// The sealed files of a store, by name. At most ``StoreDiagnosis/fileLimit`` of them are kept; files that do not open
/// or were set aside come first.
struct StoredFiles {
  private var unreadable: [StoredFile] = []
  private var readable: [StoredFile] = []
  /// The number of files that are not in ``all``.
  private(set) var omittedCount = 0

  mutating func append(_ file: StoredFile) {
    if file.problem != nil || file.originalName != nil {
      if unreadable.count < StoreDiagnosis.fileLimit { unreadable.append(file) } else { omittedCount += 1 }
    } else {
      readable.append(file)
    }
    if unreadable.count + readable.count > StoreDiagnosis.fileLimit {
      readable.removeLast()
      omittedCount += 1
    }
  }

  var all: [StoredFile] {
    (unreadable + readable).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}

extension OpenStore {
  /// The sealed files, for diagnosis. Removes nothing.
  func inspect() throws(EnrollError) -> StoredFiles {
    let keys = try ring.open()
    let moment = SystemClock().moment()
    var found = StoredFiles()
    for name in try folder.names().sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let original = StoreNames.original(name)
      let kind: StoredFile.Kind
      let tag: [UInt8]
      if let own = AccountFileNames.tag(ofRecord: original) {
        (kind, tag) = (.account, own)
      } else if ASCII.equals(original, StoreNames.outbox) {
        (kind, tag) = (.outbox, try keys.tag("store", original))
      } else if ASCII.equals(original, StoreNames.installation) {
        (kind, tag) = (.installation, try keys.tag("store", original))
      } else if let own = StoreNames.tag(ofProvider: original) {
        (kind, tag) = (.provider, own)
      } else if let own = ClientFileNames.tag(ofClient: original) {
        (kind, tag) = (.client, own)
      } else {
        continue
      }
      var file = StoredFile(name: name, kind: kind)
      if StoreNames.isSetAside(name) { file.originalName = original }
      do throws(EnrollError) {
        try examine(into: &file, tag, keys, moment)
      } catch {
        file.problem = error
      }
      found.append(file)
    }
    return found
  }

  private func examine(
    into file: inout StoredFile, _ tag: [UInt8], _ keys: StoreKeys, _ moment: Moment
  ) throws(EnrollError) {
    guard let (bytes, _) = try folder.read(file.name, limit: SealedFormat.fileLimit) else {
      throw EnrollError(.notFound, "the file was removed during the call", field: "store")
    }
    file.generation = (try? SealedHeader(of: bytes))?.generation
    let (plaintext, generation) = try SealedFormat.open(bytes, tag: tag, keys: keys, as: forms.sealed)
    file.generation = generation
    switch file.kind {
    case .account:
      switch try AccountDocument(decoding: plaintext, as: forms.account).content {
      case .open(let record): file.account = record.shown(at: moment, exists: true).object
      case .underPIN: file.isUnderPIN = true
      }
    case .outbox: file.entryCount = try OutboxDocument.decode(plaintext, as: forms.outbox).count
    case .installation: _ = try InstallationDocument.decode(plaintext, as: forms.installation)
    case .provider: _ = try ProviderDocuments(decoding: plaintext)
    case .client: _ = try RegisteredClient.decode(plaintext)
    }
  }
}
