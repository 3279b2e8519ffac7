// An account's record as JSON for the store. When a member is added or changes its meaning, the number of
// `AccountDocument.form` is raised, so that an older program does not drop a member that it does not know.

import EnrollCrypto
import EnrollJSON

extension AccountRecord {
  var json: JSON {
    var object = JSONObject()
    // Stores the bits of the unsigned number as a signed number, because JSON integers are signed.
    object.put("tokenEpoch", Int64(bitPattern: tokenEpoch))
    object["accessEpoch"] = accessEpoch.map { .integer(Int64(bitPattern: $0)) }
    object["confirmed"] = confirmed?.json
    object["provisional"] = provisional?.json
    // The profile is stored as text. It may be nested as deeply as a whole document may, and as JSON it would
    // make this document too deep to read (R37).
    object["profile"] = profile.map { AccountRecord.text($0) }
    object["provisionalProfile"] = provisionalProfile.map { AccountRecord.text($0) }
    object.put("registrationType", registrationType)
    object.put("provisionalTransaction", provisionalTransactionID?.text)
    object.put("provisionalRegistrationType", provisionalRegistrationType)
    object.put("pinTransaction", pinTransactionID?.text)
    object["transactions"] = .array(transactions.map { $0.json })
    object["renewalIntent"] = renewalIntent?.json
    object["refusal"] = refusal?.json
    object["backoff"] = backoff?.json
    object.put("sessionEnded", sessionEnded)
    object.put("sessionEndedDescription", sessionEndedDescription)
    if isAccessRefused { object["accessRefused"] = .bool(true) }
    if narrowsSessions { object["narrowsSessions"] = .bool(true) }
    if refusesOfflineAccess { object["refusesOfflineAccess"] = .bool(true) }
    object["keepsAccessTokens"] = keepsAccessTokens.map { .bool($0) }
    object.put("offlineConsent", offlineConsent?.rawValue)
    object.put("serverClockOffsetSeconds", serverClock.offsetSeconds)
    object.put("doubtedClockOffsetSeconds", serverClock.doubtedOffsetSeconds)
    object["dpopNonces"] = nonces.entries.isEmpty ? nil : .array(nonces.entries.map { $0.json })
    object["sentRefreshTokens"] =
      sentRefreshTokens.hashes.isEmpty ? nil : .array(sentRefreshTokens.hashes.map { .string($0) })
    object.put("secretMethod", secretMethod?.rawValue)
    object.put("asksForLogin", asksForLogin)
    object["logouts"] = .array(logouts.map { $0.json })
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    tokenEpoch = UInt64(bitPattern: object.integer("tokenEpoch"))
    accessEpoch = object.optionalInteger("accessEpoch").map { UInt64(bitPattern: $0) }
    if let value = object.optional("confirmed") {
      confirmed = try TokenSet(json: value, place + ".confirmed")
    }
    if let value = object.optional("provisional") {
      provisional = try TokenSet(json: value, place + ".provisional")
    }
    profile = try AccountRecord.profile(object.optionalString("profile"), place)
    provisionalProfile = try AccountRecord.profile(object.optionalString("provisionalProfile"), place)
    registrationType = object.optionalString("registrationType")
    provisionalTransactionID = object.optionalString("provisionalTransaction").map { TransactionID($0) }
    provisionalRegistrationType = object.optionalString("provisionalRegistrationType")
    pinTransactionID = object.optionalString("pinTransaction").map { TransactionID($0) }
    for value in object.array("transactions") {
      transactions.append(try TransactionRecord(json: value, place + ".transactions"))
    }
    if let value = object.optional("renewalIntent") {
      renewalIntent = try RenewalIntent(json: value, place + ".renewalIntent")
    }
    if let value = object.optional("refusal") {
      refusal = try RenewalRefusal(json: value, place + ".refusal")
    }
    if let value = object.optional("backoff") {
      backoff = try RenewalBackoff(json: value, place + ".backoff")
    }
    sessionEnded = object.optionalString("sessionEnded")
    sessionEndedDescription = object.optionalString("sessionEndedDescription")
    isAccessRefused = object.flag("accessRefused")
    narrowsSessions = object.flag("narrowsSessions")
    refusesOfflineAccess = object.flag("refusesOfflineAccess")
    keepsAccessTokens = object.optionalBool("keepsAccessTokens")
    offlineConsent = object.optionalString("offlineConsent").flatMap { OfflineConsent(rawValue: $0) }
    serverClock = ServerClock(
      offsetSeconds: object.optionalInteger("serverClockOffsetSeconds"),
      doubtedOffsetSeconds: object.optionalInteger("doubtedClockOffsetSeconds"))
    nonces = DPoPNonces(
      try object.optionalArray("dpopNonces").map { json throws(EnrollError) in
        try DPoPNonces.Entry(json: json, place + ".dpopNonces")
      })
    sentRefreshTokens = SentRefreshTokens(object.optionalStrings("sentRefreshTokens") ?? [])
    // An unknown authentication method is ignored: the next request that the server accepts shows which method works.
    secretMethod = object.optionalString("secretMethod").flatMap { ClientSecretMethod(rawValue: $0) }
    asksForLogin = object.bool("asksForLogin")
    for value in object.array("logouts") {
      logouts.append(try PendingLogout(json: value, place + ".logouts"))
    }
    try object.end()
  }

  private static func text(_ profile: JSONObject) -> JSON {
    .string(String(decoding: JSON.object(profile).serialized(), as: UTF8.self))
  }

  private static func profile(_ text: String?, _ place: String) throws(EnrollError) -> JSONObject? {
    guard let text else { return nil }
    do {
      if let object = try JSON.parse(Array(text.utf8)).object { return object }
    } catch {
      throw EnrollError(.storeCorrupt, "\(place).profile: ", error, field: place)
    }
    throw EnrollError(.storeCorrupt, "\(place).profile: expected an object", field: place)
  }
}

extension RenewalIntent {
  var json: JSON {
    var object = JSONObject()
    object.put("attempt", attempt)
    object.put("tokenEpoch", Int64(bitPattern: tokenEpoch))
    object.put("refreshTokenHash", refreshTokenHash)
    object.put("bootID", bootID)
    object.put("began", began)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    attempt = object.string("attempt")
    tokenEpoch = UInt64(bitPattern: object.integer("tokenEpoch"))
    refreshTokenHash = object.string("refreshTokenHash")
    bootID = object.string("bootID")
    began = object.time("began")
    try object.end()
  }
}

extension DPoPNonces.Entry {
  var json: JSON {
    var object = JSONObject()
    object.put("origin", origin)
    object.put("nonce", nonce)
    object.put("learned", learned)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    self.init(
      origin: object.string("origin"), nonce: object.string("nonce"), learned: object.time("learned"))
    try object.end()
  }
}

extension RenewalRefusal {
  var json: JSON {
    var object = JSONObject()
    object["pause"] = pause.json
    object.put("httpStatus", Int64(httpStatus))
    object.put("oauthError", oauthError)
    object.put("oauthErrorDescription", oauthErrorDescription)
    object["repeated"] = isRepeated ? .bool(true) : nil
    object.put("began", began)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    pause = object.expiry("pause")
    httpStatus = Int(truncatingIfNeeded: object.integer("httpStatus"))
    oauthError = object.optionalString("oauthError")
    oauthErrorDescription = object.optionalString("oauthErrorDescription")
    isRepeated = object.flag("repeated")
    began = object.optionalInteger("began").map { UnixTime(seconds: $0) }
    try object.end()
  }
}

extension RenewalBackoff {
  var json: JSON {
    var object = JSONObject()
    object.put("failures", Int64(failures))
    object["pause"] = pause.json
    object["followUp"] = followUp.json
    object.put("offlineSince", offlineSince)
    object.put("code", Int64(error.code.rawValue))
    object.put("message", error.message)
    object["httpStatus"] = error.httpStatus.map { .integer(Int64($0)) }
    object.put("oauthError", error.oauthError)
    object.put("oauthErrorDescription", error.oauthErrorDescription)
    object.put("retryAfterSeconds", error.retryAfterSeconds)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    let (failures, pause, followUp) = (
      Int(truncatingIfNeeded: object.integer("failures")), object.expiry("pause"), object.expiry("followUp")
    )
    let offlineSince = object.time("offlineSince")
    guard
      let code = EnrollError.Code(rawValue: Int32(truncatingIfNeeded: object.integer("code")))
    else { throw object.damaged(".code: unknown") }
    self.init(
      failures: failures, pause: pause, followUp: followUp, offlineSince: offlineSince,
      error: EnrollError(
        code, object.string("message"),
        httpStatus: object.optionalInteger("httpStatus").map { Int(truncatingIfNeeded: $0) },
        oauthError: object.optionalString("oauthError"),
        oauthErrorDescription: object.optionalString("oauthErrorDescription"),
        retryAfterSeconds: object.optionalInteger("retryAfterSeconds")))
    try object.end()
  }
}

extension PendingLogout {
  var json: JSON {
    var object = JSONObject()
    object.put("state", state)
    object.put("redirectURI", redirectURI)
    object.put("began", began)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    state = object.optionalSecret("state")
    redirectURI = object.string("redirectURI")
    began = object.time("began")
    try object.end()
  }
}
