// Tokens, their expiry and the facts they prove, as JSON for the store.

import EnrollCrypto
import EnrollJSON

extension TokenSet {
  var json: JSON {
    var object = JSONObject()
    object["accessToken"] = .secret(accessToken)
    object["tokenType"] = .string(tokenType)
    object["refreshToken"] = refreshToken.map { .secret($0) }
    object["idToken"] = idToken.map { .secret($0) }
    object["dpopKey"] = dpopKey?.json
    object["scopes"] = .strings(scopes)
    object["expiry"] = expiry.json
    object["identity"] = identity?.json
    object["unprovenIDToken"] = unprovenIDToken.map { .secret($0) }
    if source != .issuer { object["source"] = .string(source.rawValue) }
    if !audiences.isEmpty { object["audiences"] = audiences.json }
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    accessToken = try object.secret("accessToken")
    tokenType = try object.string("tokenType")
    refreshToken = try object.optionalSecret("refreshToken")
    idToken = try object.optionalSecret("idToken")
    dpopKey = try object.optional("dpopKey").map { json throws(EnrollError) in
      try DPoPKey(json: json, place + ".dpopKey")
    }
    scopes = try object.strings("scopes")
    expiry = try Expiry(json: object.value("expiry"), place + ".expiry")
    if let value = object.optional("identity") {
      identity = try IdentityFacts(json: value, place + ".identity")
    } else {
      identity = nil
    }
    unprovenIDToken = try object.optionalSecret("unprovenIDToken")
    let sourceName = try object.optionalString("source") ?? Source.issuer.rawValue
    guard let source = Source(rawValue: sourceName) else {
      throw EnrollError(.storeCorrupt, "\(place).source: unknown", field: place)
    }
    self.source = source
    if let value = object.optional("audiences") {
      audiences = try AudienceTokens(json: value, place + ".audiences")
    }
    try object.end()
  }
}

extension DPoPKey {
  var json: JSON { .secret(Secret(Base64URL.encodedBytes(der.revealBytes()))) }

  init(json: JSON, _ place: String) throws(EnrollError) {
    guard let text = json.string, let bytes = Base64URL.decode(text) else {
      throw EnrollError(.storeCorrupt, "\(place): expected base64url", field: place)
    }
    self.init(der: Secret(bytes))
  }
}

extension IdentityFacts {
  var json: JSON {
    var object = JSONObject()
    object["issuer"] = .string(issuer.text)
    object["subject"] = .string(subject)
    object["audience"] = .strings(audience)
    object["authorizedParty"] = authorizedParty.map { .string($0) }
    object["authTime"] = authTime.map { .time($0) }
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    issuer = Issuer(try object.string("issuer"))
    subject = try object.string("subject")
    audience = try object.strings("audience")
    authorizedParty = try object.optionalString("authorizedParty")
    authTime = try object.optionalInteger("authTime").map { UnixTime(seconds: $0) }
    try object.end()
  }
}

extension Expiry {
  var json: JSON {
    var object = JSONObject()
    object["expiresAt"] = .time(expiresAt)
    object["deadline"] = .integer(deadline.nanoseconds)
    object["bootID"] = .string(bootID)
    object["lifetimeSeconds"] = .integer(lifetimeSeconds)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    expiresAt = try object.time("expiresAt")
    deadline = Instant(nanoseconds: try object.integer("deadline"))
    bootID = try object.string("bootID")
    lifetimeSeconds = try object.integer("lifetimeSeconds")
    try object.end()
  }
}
