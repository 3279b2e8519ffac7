// What the store's sealed files hold: one JSON document each, with the version of its form. Older versions are upgraded
// while they are read (there are none yet) and stand in the new form on disk from the next save on, which replaces the file
// whole; a newer one is refused with words, and anything else is damage.

public import EnrollCrypto
import EnrollJSON

/// One account on disk: its record, the name that its file's name hides, and the line of records it belongs to.
public struct AccountDocument: Equatable, Sendable {
  /// Of the form of the record; the sealed file around it has its own.
  public static let version: Int64 = 1

  public var account: AccountName
  /// Random, made with the account's first record and kept by every later one: within one lineage generations only
  /// grow, so that an older copy which was put back is recognised.
  public var lineage: String
  public var content: Content

  public enum Content: Equatable, Sendable {
    case open(AccountRecord)
    /// Sealed once more, with the account's own key (reliability.md, PIN).
    case underPIN(PINEnvelope, sealed: [UInt8])
  }

  public init(account: AccountName, lineage: String, content: Content) {
    self.account = account
    self.lineage = lineage
    self.content = content
  }

  public init(account: AccountName, lineage: String, record: AccountRecord) {
    self.init(account: account, lineage: lineage, content: .open(record))
  }

  /// - Returns: UTF-8 text that ``init(decoding:)`` reads.
  public func encoded() -> Secret {
    var object = JSONObject()
    object["version"] = .integer(Self.version)
    object["account"] = .string(account.text)
    if !account.realm.isEmpty { object["realm"] = .string(account.realm) }
    object["lineage"] = .string(lineage)
    switch content {
    case .open(let record): object["record"] = record.json
    case .underPIN(let envelope, let sealed):
      object["pin"] = envelope.json
      object["sealedRecord"] = .string(Base64URL.encode(sealed))
    }
    return StoreText.secret(.object(object))
  }

  /// - Parameter upgrades: from what older programs wrote.
  /// - Throws: `.storeVersion` for a document by a newer program, `.storeCorrupt` for anything that is not exactly one.
  public init(
    decoding text: Secret, upgrades: DocumentUpgrades = .accounts
  ) throws(EnrollError) {
    var object = try StoreText.document(text, newest: Self.version, upgrades, "account")
    let name = try object.string("account")
    let realm = object.optional("realm")?.string ?? ""
    do {
      account = try AccountName(name, realm: realm)
    } catch {
      throw EnrollError(.storeCorrupt, "the account's name is not one: " + error.message, field: "account")
    }
    lineage = try object.string("lineage")
    if let pin = object.optional("pin") {
      content = .underPIN(try PINEnvelope(json: pin, "pin"), sealed: try object.bytes("sealedRecord"))
    } else {
      content = .open(try AccountRecord(json: object.value("record"), "record"))
    }
    try object.end()
  }
}

extension AccountRecord {
  /// The record alone, for the seal of a PIN.
  public func encoded() -> Secret { StoreText.secret(json) }

  /// - Throws: `.storeCorrupt`.
  public init(decoding text: Secret) throws(EnrollError) {
    let value: JSON
    do {
      value = try JSON.parse(text.revealBytes())
    } catch {
      throw EnrollError(.storeCorrupt, "record: \(error.message)", field: "record")
    }
    try self.init(json: value, "record")
  }
}

/// The outbox on disk.
public enum OutboxDocument {
  public static let version: Int64 = 1

  public static func encoded(_ entries: [OutboxEntry]) -> Secret {
    StoreText.secret(
      .object([("version", .integer(version)), ("entries", .array(entries.map { $0.json }))]))
  }

  /// - Throws: as ``AccountDocument/init(decoding:)``.
  public static func decode(_ text: Secret) throws(EnrollError) -> [OutboxEntry] {
    var object = try StoreText.document(text, newest: version, .none, "outbox")
    var entries: [OutboxEntry] = []
    for value in try object.array("entries") { entries.append(try OutboxEntry(json: value, "entries")) }
    try object.end()
    return entries
  }
}

/// The installation id on disk (flows.md §7).
public enum InstallationDocument {
  public static let version: Int64 = 1

  public static func encoded(_ id: String) -> Secret {
    StoreText.secret(.object([("version", .integer(version)), ("id", .string(id))]))
  }

  /// - Throws: as ``AccountDocument/init(decoding:)``.
  public static func decode(_ text: Secret) throws(EnrollError) -> String {
    var object = try StoreText.document(text, newest: version, .none, "installation")
    let id = try object.string("id")
    try object.end()
    return id
  }
}

private enum StoreText {
  static func secret(_ value: JSON) -> Secret { Secret(value.serialized()) }

  /// The document's members, after its version was looked at.
  static func document(
    _ text: Secret, newest: Int64, _ upgrades: DocumentUpgrades, _ place: String
  ) throws(EnrollError) -> StrictObject {
    let value: JSON
    do {
      value = try JSON.parse(text.revealBytes())
    } catch {
      throw EnrollError(.storeCorrupt, "\(place): \(error.message)", field: place)
    }
    var object = try StrictObject(value, place)
    var version = try object.integer("version")
    guard version <= newest else {
      throw EnrollError(
        .storeVersion, "\(place): written in form \(version), this program knows up to \(newest)",
        field: place)
    }
    let oldest = newest - Int64(upgrades.steps.count)
    guard version >= oldest else {
      throw EnrollError(.storeCorrupt, "\(place): no form has the number \(version)", field: place)
    }
    guard version < newest, var members = value.object else { return object }
    for step in upgrades.steps[Int(version - oldest)...] {
      guard let next = step(members) else {
        throw EnrollError(.storeCorrupt, "\(place): no document of form \(version)", field: place)
      }
      members = next
      version += 1
      members["version"] = .integer(version)
    }
    object = try StrictObject(.object(members), place)
    _ = try object.integer("version")
    return object
  }
}
