// The outbox as JSON for the store.

import EnrollCrypto
import EnrollJSON

extension OutboxEntry {
  var json: JSON {
    var object = JSONObject()
    object["issuer"] = .string(issuer.text)
    object["sender"] = sender?.json
    object["endpoint"] = endpoint.map { .string($0) }
    switch message {
    case .revocation(let revocation): object["revocation"] = revocation.json
    case .profile(let account): object["profile"] = .string(account)
    case .errorReport(let text): object["errorReport"] = .string(text)
    }
    object["queued"] = .time(queued)
    object["attempts"] = .integer(Int64(attempts))
    object["pause"] = pause?.json
    object["pauseAsked"] = isPauseAsked ? .bool(true) : nil
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    issuer = Issuer(try object.string("issuer"))
    // Absent in what earlier versions wrote.
    sender = try object.optional("sender").map { json throws(EnrollError) in
      try Sender(json: json, place + ".sender")
    }
    endpoint = try object.optionalString("endpoint")
    if let account = try object.optionalString("profile") {
      message = .profile(account: account)
    } else if let text = try object.optionalString("errorReport") {
      message = .errorReport(text)
    } else {
      message = .revocation(try Revocation(json: object.value("revocation"), place + ".revocation"))
    }
    queued = try object.time("queued")
    attempts = Int(truncatingIfNeeded: try object.integer("attempts"))
    // Absent in what earlier versions wrote.
    pause = try object.optional("pause").map { json throws(EnrollError) in
      try Expiry(json: json, place + ".pause")
    }
    isPauseAsked = object.optional("pauseAsked")?.bool ?? false
    try object.end()
  }
}

extension OutboxEntry.Sender {
  var json: JSON {
    .object([
      ("clientID", .string(clientID.text)), ("caFile", trust.caFile.map { .string($0) }),
      ("allowsLoopbackHTTP", .bool(trust.allowsLoopbackHTTP)),
      ("hasOwnTransport", .bool(trust.hasOwnTransport)),
    ])
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    clientID = ClientID(try object.string("clientID"))
    trust = TrustSettings(
      caFile: try object.optionalString("caFile"),
      allowsLoopbackHTTP: try object.bool("allowsLoopbackHTTP"),
      hasOwnTransport: try object.bool("hasOwnTransport"))
    try object.end()
  }
}

extension OutboxEntry.Revocation {
  var json: JSON {
    var object = JSONObject()
    object["clientID"] = .string(clientID.text)
    object["token"] = .secret(token)
    object["hint"] = .string(hint)
    object["bearer"] = bearer.map { .secret($0) }
    object["dpopKey"] = dpopKey?.json
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    clientID = ClientID(try object.string("clientID"))
    token = try object.secret("token")
    hint = try object.string("hint")
    bearer = try object.optionalSecret("bearer")
    dpopKey = try object.optional("dpopKey").map { json throws(EnrollError) in
      try DPoPKey(json: json, place + ".dpopKey")
    }
    try object.end()
  }
}
