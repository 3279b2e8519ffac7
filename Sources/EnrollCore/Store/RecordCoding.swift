// An account's record as JSON for the store. A member that is added or changes its meaning raises
// `AccountDocument.form`, so that no older program drops what it does not know.

import EnrollCrypto
import EnrollJSON

extension AccountRecord {
  var json: JSON {
    var object = JSONObject()
    // The bits of the number: JSON integers are signed.
    object["tokenEpoch"] = .integer(Int64(bitPattern: tokenEpoch))
    object["accessEpoch"] = accessEpoch.map { .integer(Int64(bitPattern: $0)) }
    object["confirmed"] = confirmed?.json
    object["provisional"] = provisional?.json
    // As text: a profile may be nested as deeply as a whole document, and must not make this one unreadable (R37).
    object["profile"] = profile.map { AccountRecord.text($0) }
    object["provisionalProfile"] = provisionalProfile.map { AccountRecord.text($0) }
    object["registrationType"] = registrationType.map { .string($0) }
    object["provisionalRegistrationType"] = provisionalRegistrationType.map { .string($0) }
    object["pinTransaction"] = pinTransactionID.map { .string($0.text) }
    object["transactions"] = .array(transactions.map { $0.json })
    object["renewalIntent"] = renewalIntent?.json
    object["refusal"] = refusal?.json
    object["backoff"] = backoff?.json
    object["sessionEnded"] = sessionEnded.map { .string($0) }
    object["serverClockOffsetSeconds"] = serverClock.offsetSeconds.map { .integer($0) }
    object["doubtedClockOffsetSeconds"] = serverClock.doubtedOffsetSeconds.map { .integer($0) }
    object["asksForLogin"] = .bool(asksForLogin)
    object["logouts"] = .array(logouts.map { $0.json })
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    tokenEpoch = UInt64(bitPattern: try object.integer("tokenEpoch"))
    accessEpoch = try object.optionalInteger("accessEpoch").map { UInt64(bitPattern: $0) }
    if let value = object.optional("confirmed") {
      confirmed = try TokenSet(json: value, place + ".confirmed")
    }
    if let value = object.optional("provisional") {
      provisional = try TokenSet(json: value, place + ".provisional")
    }
    profile = try AccountRecord.profile(object.optionalString("profile"), place)
    provisionalProfile = try AccountRecord.profile(object.optionalString("provisionalProfile"), place)
    registrationType = try object.optionalString("registrationType")
    provisionalRegistrationType = try object.optionalString("provisionalRegistrationType")
    pinTransactionID = try object.optionalString("pinTransaction").map { TransactionID($0) }
    for value in try object.array("transactions") {
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
    sessionEnded = try object.optionalString("sessionEnded")
    serverClock = ServerClock(
      offsetSeconds: try object.optionalInteger("serverClockOffsetSeconds"),
      doubtedOffsetSeconds: try object.optionalInteger("doubtedClockOffsetSeconds"))
    asksForLogin = try object.bool("asksForLogin")
    for value in try object.array("logouts") {
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
    object["attempt"] = .string(attempt)
    object["tokenEpoch"] = .integer(Int64(bitPattern: tokenEpoch))
    object["refreshTokenHash"] = .string(refreshTokenHash)
    object["bootID"] = .string(bootID)
    object["began"] = .time(began)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    attempt = try object.string("attempt")
    tokenEpoch = UInt64(bitPattern: try object.integer("tokenEpoch"))
    refreshTokenHash = try object.string("refreshTokenHash")
    bootID = try object.string("bootID")
    began = try object.time("began")
    try object.end()
  }
}

extension RenewalRefusal {
  var json: JSON {
    var object = JSONObject()
    object["pause"] = pause.json
    object["httpStatus"] = .integer(Int64(httpStatus))
    object["oauthError"] = oauthError.map { .string($0) }
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    pause = try Expiry(json: object.value("pause"), place + ".pause")
    httpStatus = Int(truncatingIfNeeded: try object.integer("httpStatus"))
    oauthError = try object.optionalString("oauthError")
    try object.end()
  }
}

extension RenewalBackoff {
  var json: JSON {
    var object = JSONObject()
    object["failures"] = .integer(Int64(failures))
    object["pause"] = pause.json
    object["followUp"] = followUp.json
    object["offlineSince"] = .time(offlineSince)
    object["code"] = .integer(Int64(error.code.rawValue))
    object["message"] = .string(error.message)
    object["httpStatus"] = error.httpStatus.map { .integer(Int64($0)) }
    object["oauthError"] = error.oauthError.map { .string($0) }
    object["retryAfterSeconds"] = error.retryAfterSeconds.map { .integer($0) }
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    failures = Int(truncatingIfNeeded: try object.integer("failures"))
    pause = try Expiry(json: object.value("pause"), place + ".pause")
    followUp = try Expiry(json: object.value("followUp"), place + ".followUp")
    offlineSince = try object.time("offlineSince")
    guard
      let code = EnrollError.Code(rawValue: Int32(truncatingIfNeeded: try object.integer("code")))
    else { throw EnrollError(.storeCorrupt, "\(place).code: unknown", field: place) }
    error = EnrollError(
      code, try object.string("message"),
      httpStatus: try object.optionalInteger("httpStatus").map { Int(truncatingIfNeeded: $0) },
      oauthError: try object.optionalString("oauthError"),
      retryAfterSeconds: try object.optionalInteger("retryAfterSeconds"))
    try object.end()
  }
}

extension PendingLogout {
  var json: JSON {
    var object = JSONObject()
    object["state"] = state.map { .secret($0) }
    object["redirectURI"] = .string(redirectURI)
    object["began"] = .time(began)
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    state = try object.optionalSecret("state")
    redirectURI = try object.string("redirectURI")
    began = try object.time("began")
    try object.end()
  }
}
