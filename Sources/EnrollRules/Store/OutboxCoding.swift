// Converts the outbox to JSON for the store, and back.

import EnrollCrypto
import EnrollJSON

extension OutboxEntry {
  var json: JSON {
    var object = JSONObject()
    object.put("issuer", issuer.text)
    object["sender"] = sender?.json
    object.put("endpoint", endpoint)
    switch message {
    case .revocation(let revocation): object["revocation"] = revocation.json
    case .profile(let account): object.put("profile", account)
    case .errorReport(let text): object.put("errorReport", text)
    }
    object.put("queued", queued)
    object.put("attempts", Int64(attempts))
    object["pause"] = pause?.json
    object.put("awaitedLogout", awaitedLogout)
    object["pauseAsked"] = isPauseAsked ? .bool(true) : nil
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    issuer = Issuer(object.string("issuer"))
    // Entries that an earlier version wrote have no sender.
    sender = try object.optional("sender").map { json throws(EnrollError) in
      try Sender(json: json, place + ".sender")
    }
    endpoint = object.optionalString("endpoint")
    if let account = object.optionalString("profile") {
      message = .profile(account: account)
    } else if let text = object.optionalString("errorReport") {
      message = .errorReport(text)
    } else {
      message = .revocation(try Revocation(json: object.value("revocation"), place + ".revocation"))
    }
    queued = object.time("queued")
    attempts = Int(truncatingIfNeeded: object.integer("attempts"))
    // Entries that an earlier version wrote lack these members.
    pause = object.optionalExpiry("pause")
    awaitedLogout = object.optionalString("awaitedLogout")
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
    let object = StrictObject(json, place)
    clientID = ClientID(object.string("clientID"))
    trust = TrustSettings(
      caFile: object.optionalString("caFile"),
      allowsLoopbackHTTP: object.bool("allowsLoopbackHTTP"),
      hasOwnTransport: object.bool("hasOwnTransport"))
    try object.end()
  }
}

extension OutboxEntry.Revocation {
  var json: JSON {
    var object = JSONObject()
    object.put("clientID", clientID.text)
    object.put("token", token)
    object.put("hint", hint)
    object.put("user", user)
    object.put("bearer", bearer)
    object["dpopKey"] = dpopKey?.json
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    clientID = ClientID(object.string("clientID"))
    token = object.secret("token")
    hint = object.string("hint")
    user = object.optionalString("user")
    bearer = object.optionalSecret("bearer")
    dpopKey = try object.optional("dpopKey").map { json throws(EnrollError) in
      try DPoPKey(json: json, place + ".dpopKey")
    }
    try object.end()
  }
}
