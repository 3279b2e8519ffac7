// The content of the store's sealed files: one JSON document each, with the version of its form (StoreForm). Any other
// content is corrupt.

package import EnrollCrypto
package import EnrollJSON

/// One account on disk: its record, its lineage, and its name, which the file's name does not show.
public struct AccountDocument: Equatable, Sendable {
  /// A document has either `record`, or `pin` and `sealedRecord`; an upgrade step must handle both kinds. A
  /// record under a PIN is not upgraded together with its document, but later, when the PIN opens it.
  ///
  /// Version 2 of the form does not store:
  /// - nonces
  /// - whether a refusal is repeated
  /// - whether resource servers reject the access token
  /// - when a refresh token expires
  /// - which refresh tokens were sent
  /// - whether the provider narrows sessions, refuses offline access, or wants consent for offline access
  /// - which transaction brought the tokens that wait for confirmation
  package static let form = StoreForm<JSONObject>(
    "account", newest: 3, [AccountForms.provenIDTokens, { .success($0) }])

  public var account: AccountName
  /// A random text, which is made with the account's first record and kept in every later record. Within one lineage
  /// the generation only grows, so a restored older copy is recognised.
  public var lineage: String
  public var content: Content

  public enum Content: Equatable, Sendable {
    case open(AccountRecord)
    /// The record sealed once more with the account's own key (store.md, PIN), and the number of the record's form.
    case underPIN(PINEnvelope, sealed: [UInt8], form: Int64)
  }

  /// Whether the record has only transactions, and no trace of tokens.
  package var isAttemptsAlone: Bool {
    if case .open(let record) = content { record.isAttemptsAlone } else { false }
  }

  /// Whether the document has tokens or a PIN, which must not be restored after the document's deletion.
  package var guardsSomething: Bool {
    switch content {
    case .open(let record): record.hasTokens
    case .underPIN: true
    }
  }

  public init(account: AccountName, lineage: String, content: Content) {
    self.account = account
    self.lineage = lineage
    self.content = content
  }

  public init(account: AccountName, lineage: String, record: AccountRecord) {
    self.init(account: account, lineage: lineage, content: .open(record))
  }

  /// - Returns: UTF-8 text that ``init(decoding:as:)`` reads.
  package func encoded(as form: StoreForm<JSONObject> = AccountDocument.form) -> Secret {
    var object = named(form.newest)
    switch content {
    case .open(let record): object["record"] = record.json
    case .underPIN(let envelope, let sealed, let sealedForm):
      object["pin"] = envelope.json
      object.put("sealedRecord", Base64URL.encode(sealed))
      if sealedForm != form.newest { object["sealedForm"] = .integer(sealedForm) }
    }
    return StoreText.secret(.object(object))
  }

  /// The members of a document except its content.
  private func named(_ version: Int64) -> JSONObject {
    var object = JSONObject()
    object.put("version", version)
    object.put("account", account.text)
    if !account.realm.isEmpty { object["realm"] = .string(account.realm) }
    object.put("lineage", lineage)
    return object
  }

  /// - Throws: `.storeVersion` for a document of a newer program, `.storeCorrupt` for anything else that is not a valid
  ///   document.
  package init(
    decoding text: Secret, as form: StoreForm<JSONObject> = AccountDocument.form
  ) throws(EnrollError) {
    try self.init(json: try StoreText.parse(text, form.name), form)
  }

  private init(json: JSON, _ form: StoreForm<JSONObject>) throws(EnrollError) {
    let (object, written) = try StoreText.document(json, form)
    let name = object.string("account")
    let realm = object.optional("realm")?.string ?? ""
    try object.check()
    do {
      account = try AccountName(name, realm: realm)
    } catch {
      throw EnrollError(.storeCorrupt, "the account's name is invalid: " + error.message, field: "account")
    }
    lineage = object.string("lineage")
    if let pin = object.optional("pin") {
      content = .underPIN(
        try PINEnvelope(json: pin, "pin"), sealed: object.bytes("sealedRecord"),
        form: object.optionalInteger("sealedForm") ?? written)
    } else {
      content = .open(try AccountRecord(json: object.value("record"), "record"))
    }
    try object.end()
  }
}

extension AccountDocument {
  /// The record that was sealed under a PIN.
  /// - Parameter version: the number of the record's form.
  /// - Throws: as ``init(decoding:as:)``.
  package func record(
    unsealed text: Secret, version: Int64, as form: StoreForm<JSONObject> = AccountDocument.form
  ) throws(EnrollError) -> AccountRecord {
    var object = named(version)
    object["record"] = try StoreText.parse(text, "record")
    guard case .open(let record) = try AccountDocument(json: .object(object), form).content else {
      throw EnrollError(.storeCorrupt, "record: under a second PIN", field: "record")
    }
    return record
  }
}

extension AccountRecord {
  /// The record without the document's other members, to be sealed under a PIN.
  package func encoded() -> Secret { StoreText.secret(json) }
}

/// The outbox on disk.
public enum OutboxDocument {
  /// Version 1 of the document does not name the user of a message.
  package static let form = StoreForm<JSONObject>("outbox", newest: 2, [{ .success($0) }])

  package static func encoded(_ entries: [OutboxEntry], as form: StoreForm<JSONObject> = form) -> Secret {
    StoreText.secret(
      .object([("version", .integer(form.newest)), ("entries", .array(entries.map { $0.json }))]))
  }

  /// - Throws: as ``AccountDocument/init(decoding:as:)``.
  package static func decode(
    _ text: Secret, as form: StoreForm<JSONObject> = form
  ) throws(EnrollError) -> [OutboxEntry] {
    let (object, _) = try StoreText.document(try StoreText.parse(text, form.name), form)
    var entries: [OutboxEntry] = []
    for value in object.array("entries") { entries.append(try OutboxEntry(json: value, "entries")) }
    try object.end()
    return entries
  }
}

/// The installation id on disk (flows.md §7).
public enum InstallationDocument {
  package static let form = StoreForm<JSONObject>("installation", newest: 1)

  package static func encoded(_ id: String, as form: StoreForm<JSONObject> = form) -> Secret {
    StoreText.secret(.object([("version", .integer(form.newest)), ("id", .string(id))]))
  }

  /// - Throws: as ``AccountDocument/init(decoding:as:)``.
  package static func decode(
    _ text: Secret, as form: StoreForm<JSONObject> = form
  ) throws(EnrollError) -> String {
    let (object, _) = try StoreText.document(try StoreText.parse(text, form.name), form)
    let id = object.string("id")
    try object.end()
    return id
  }
}

enum StoreText {
  static func secret(_ value: JSON) -> Secret { Secret(value.serialized()) }

  static func parse(_ text: Secret, _ place: String) throws(EnrollError) -> JSON {
    do {
      return try JSON.parse(text.revealBytes())
    } catch {
      throw EnrollError(.storeCorrupt, "\(place): ", error, field: place)
    }
  }

  /// The members of a document, upgraded to the newest form, and the version in which it was written.
  static func document(
    _ value: JSON, _ form: StoreForm<JSONObject>
  ) throws(EnrollError) -> (members: StrictObject, version: Int64) {
    let written = StrictObject(value, form.name)
    let version = written.integer("version")
    try written.check()
    var members = try form.upgraded(value.object ?? JSONObject(), from: version)
    members["version"] = .integer(form.newest)
    let object = StrictObject(.object(members), form.name)
    _ = object.integer("version")
    return (object, version)
  }
}

/// The steps from older forms of an account's document to newer ones (StoreForm). Every other member that was added is
/// optional: if it is absent, the document means the same as in the older form.
enum AccountForms {
  /// 1 → 2: an id_token of a renewal that was not verified was stored in place of the verified one, together with a
  /// flag.
  static let provenIDTokens: StoreForm<JSONObject>.Step = { document in
    var document = document
    guard var record = document["record"]?.object else { return .success(document) }
    for name in ["confirmed", "provisional"] {
      guard var tokens = record[name]?.object else { continue }
      guard let isVerified = tokens["isVerified"]?.bool else { return .success(nil) }
      tokens["isVerified"] = nil
      if !isVerified {
        tokens["unprovenIDToken"] = tokens["idToken"]
        tokens["idToken"] = nil
      }
      record[name] = .object(tokens)
    }
    document["record"] = .object(record)
    return .success(document)
  }
}
