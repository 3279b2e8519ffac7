// Converts tokens, their expiry and their verified claims to JSON for the store, and back.

import EnrollCrypto
import EnrollJSON

extension TokenSet {
  var json: JSON {
    var object = JSONObject()
    object.put("accessToken", accessToken)
    object.put("tokenType", tokenType)
    object.put("refreshToken", refreshToken)
    object["refreshExpiry"] = refreshExpiry?.json
    object.put("idToken", idToken)
    object["dpopKey"] = dpopKey?.json
    object.put("scopes", scopes)
    if !missingScopes.isEmpty { object.put("missingScopes", missingScopes) }
    object["expiry"] = expiry.json
    object["identity"] = identity?.json
    object.put("unprovenIDToken", unprovenIDToken)
    if source != .issuer { object["source"] = .string(source.rawValue) }
    if isSuperseded { object["superseded"] = .bool(true) }
    if !audiences.isEmpty { object["audiences"] = audiences.json }
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    accessToken = object.secret("accessToken")
    tokenType = object.string("tokenType")
    refreshToken = object.optionalSecret("refreshToken")
    refreshExpiry = object.optionalExpiry("refreshExpiry")
    idToken = object.optionalSecret("idToken")
    dpopKey = try object.optional("dpopKey").map { json throws(EnrollError) in
      try DPoPKey(json: json, place + ".dpopKey")
    }
    scopes = object.strings("scopes")
    missingScopes = object.optionalStrings("missingScopes") ?? []
    expiry = object.expiry("expiry")
    if let value = object.optional("identity") {
      identity = try IdentityFacts(json: value, place + ".identity")
    } else {
      identity = nil
    }
    unprovenIDToken = object.optionalSecret("unprovenIDToken")
    let sourceName = object.optionalString("source") ?? Source.issuer.rawValue
    guard let source = Source(rawValue: sourceName) else {
      throw object.damaged(".source: unknown")
    }
    self.source = source
    isSuperseded = object.flag("superseded")
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
    object.put("issuer", issuer.text)
    object.put("subject", subject)
    object.put("audience", audience)
    object.put("authorizedParty", authorizedParty)
    object.put("authTime", authTime)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    issuer = Issuer(object.string("issuer"))
    subject = object.string("subject")
    audience = object.strings("audience")
    authorizedParty = object.optionalString("authorizedParty")
    authTime = object.optionalInteger("authTime").map { UnixTime(seconds: $0) }
    try object.end()
  }
}

extension Expiry {
  var json: JSON {
    var object = JSONObject()
    object.put("expiresAt", expiresAt)
    object.put("deadline", deadline.nanoseconds)
    object.put("bootID", bootID)
    object.put("lifetimeSeconds", lifetimeSeconds)
    return .object(object)
  }

  /// - Parameter object: the object to read. The caller, which made the object, calls ``StrictObject/end()``.
  init(_ object: StrictObject) {
    expiresAt = object.time("expiresAt")
    deadline = Instant(nanoseconds: object.integer("deadline"))
    bootID = object.string("bootID")
    lifetimeSeconds = object.integer("lifetimeSeconds")
  }
}
