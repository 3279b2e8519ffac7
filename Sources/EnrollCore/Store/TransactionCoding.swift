// Transactions as JSON for the store.

import EnrollCrypto
import EnrollJSON

extension TransactionRecord {
  var json: JSON {
    var object = JSONObject()
    object["id"] = .string(id)
    object["kind"] = .string(kind.storedName)
    object["status"] = .string(status.rawValue)
    object["issuer"] = .string(issuer)
    object["redirectURI"] = .string(redirectURI)
    object["state"] = .secret(state)
    object["nonce"] = .secret(nonce)
    object["codeVerifier"] = .secret(codeVerifier)
    object["dpopKey"] = dpopKey?.json
    object["scopes"] = .strings(scopes)
    object["maxAgeSeconds"] = maxAgeSeconds.map { .integer($0) }
    object["acrValues"] = .strings(acrValues)
    object["prompt"] = prompt.map { .string($0) }
    object["expectedSubject"] = expectedSubject.map { .string($0) }
    object["isSocial"] = isSocial ? .bool(true) : nil
    object["listensOnLoopback"] = .bool(listensOnLoopback)
    object["began"] = .time(began)
    object["deadline"] = deadline.json
    object["isOvertaken"] = isOvertaken ? .bool(true) : nil
    object["step"] = .string(step.rawValue)
    object["details"] = details.json
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    id = try object.string("id")
    let kindName = try object.string("kind")
    guard let kind = TransactionKind.allCases.first(where: { ASCII.equals($0.storedName, kindName) }) else {
      throw EnrollError(.storeCorrupt, "\(place).kind: a kind that does not exist", field: place)
    }
    self.kind = kind
    let statusName = try object.string("status")
    guard let status = Status(rawValue: statusName) else {
      throw EnrollError(.storeCorrupt, "\(place).status: a status that does not exist", field: place)
    }
    self.status = status
    issuer = try object.string("issuer")
    redirectURI = try object.string("redirectURI")
    state = try object.secret("state")
    nonce = try object.secret("nonce")
    codeVerifier = try object.secret("codeVerifier")
    dpopKey = try object.optional("dpopKey").map { json throws(EnrollError) in
      try DPoPKey(json: json, place + ".dpopKey")
    }
    scopes = try object.strings("scopes")
    maxAgeSeconds = try object.optionalInteger("maxAgeSeconds")
    acrValues = try object.strings("acrValues")
    prompt = try object.optionalString("prompt")
    // Absent in what earlier versions wrote.
    expectedSubject = try object.optionalString("expectedSubject")
    isSocial = object.optional("isSocial")?.bool ?? false
    listensOnLoopback = try object.bool("listensOnLoopback")
    began = try object.time("began")
    deadline = try Expiry(json: object.value("deadline"), place + ".deadline")
    // Absent in what earlier versions wrote.
    isOvertaken = object.optional("isOvertaken")?.bool ?? false
    let stepName = try object.string("step")
    guard let step = RegistrationState.Step(rawValue: stepName) else {
      throw EnrollError(.storeCorrupt, "\(place).step: a step that does not exist", field: place)
    }
    self.step = step
    details =
      try object.optional("details").map { json throws(EnrollError) in
        try Details(json: json, place + ".details")
      } ?? .none
    try object.end()
  }
}

extension TransactionKind {
  /// The name in stored records, which is older than the public one.
  fileprivate var storedName: String {
    switch self {
    case .app2app: "anotherApp"
    case .bff: "backend"
    case .signIn, .register, .passwordless, .device: rawValue
    }
  }
}

extension TransactionRecord.Details {
  /// nil for none.
  var json: JSON? {
    var object = JSONObject()
    switch self {
    case .none: return nil
    case .app2app(let sessionID, let tries):
      object["sessionID"] = .secret(sessionID)
      object["tries"] = tries == 0 ? nil : .integer(tries)
    case .passwordless(let recipient, let tries):
      object["connection"] = .string(recipient.connection.rawValue)
      object["address"] = .string(recipient.address)
      object["tries"] = .integer(tries)
    case .bff(let provider): object["provider"] = .string(provider)
    case .links(let history):
      object["spentLinks"] = .strings(history.spent)
      object["origin"] = history.origin.map { .string($0) }
      object["source"] = history.source.map { .string($0.rawValue) }
      object["hasFallenBack"] = .bool(history.hasFallenBack)
    case .device(let deviceCode, let intervalSeconds, let notBefore):
      object["deviceCode"] = .secret(deviceCode)
      object["intervalSeconds"] = .integer(intervalSeconds)
      object["notBefore"] = notBefore.json
    }
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    if let sessionID = try object.optionalSecret("sessionID") {
      self = .app2app(sessionID: sessionID, tries: try object.optionalInteger("tries") ?? 0)
    } else if let history = try LinkHistory(&object, place) {
      self = .links(history)
    } else if let name = try object.optionalString("connection") {
      guard let connection = Recipient.Connection(rawValue: name) else {
        throw EnrollError(.storeCorrupt, "\(place).connection: one that does not exist", field: place)
      }
      self = .passwordless(
        Recipient(connection, address: try object.string("address")), tries: try object.integer("tries"))
    } else if let provider = try object.optionalString("provider") {
      self = .bff(provider: provider)
    } else {
      self = .device(
        deviceCode: try object.secret("deviceCode"), intervalSeconds: try object.integer("intervalSeconds"),
        notBefore: try Expiry(json: object.value("notBefore"), place + ".notBefore"))
    }
    try object.end()
  }
}

extension LinkHistory {
  /// nil when the object is of another kind.
  fileprivate init?(_ object: inout StrictObject, _ place: String) throws(EnrollError) {
    guard let spent = try object.optionalStrings("spentLinks") else { return nil }
    var source: Source?
    if let name = try object.optionalString("source") {
      source = Source(rawValue: name)
      guard source != nil else {
        throw EnrollError(.storeCorrupt, "\(place).source: one that does not exist", field: place)
      }
    }
    self.init(
      spent: spent, origin: try object.optionalString("origin"), source: source,
      hasFallenBack: try object.bool("hasFallenBack"))
  }
}
