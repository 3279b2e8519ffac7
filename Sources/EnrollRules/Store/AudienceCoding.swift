// Access tokens for audiences as JSON for the store. If a session has no such tokens, the JSON has no member for them.

import EnrollCrypto
import EnrollJSON

extension AudienceTokens {
  var json: JSON { .array(entries.map { $0.json }) }

  init(json: JSON, _ place: String) throws(EnrollError) {
    self.init()
    guard let values = json.array else { throw StrictObject.damaged(place, "an array", json) }
    for value in values { put(try AudienceEntry(json: value, place)) }
  }
}

extension AudienceEntry {
  fileprivate var json: JSON {
    var object = JSONObject()
    object.put("resource", audience.resource)
    object.put("scopes", audience.scopes)
    object["token"] = token?.json
    object["refusal"] = refusal?.json
    object["backoff"] = backoff?.json
    return .object(object)
  }

  fileprivate init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    self.init(
      TokenAudience(resource: object.optionalString("resource"), scopes: object.strings("scopes")))
    if let value = object.optional("token") { token = try AudienceToken(json: value, place + ".token") }
    if let value = object.optional("refusal") {
      refusal = try RenewalRefusal(json: value, place + ".refusal")
    }
    if let value = object.optional("backoff") {
      backoff = try RenewalBackoff(json: value, place + ".backoff")
    }
    try object.end()
  }
}

extension AudienceToken {
  fileprivate var json: JSON {
    var object = JSONObject()
    object.put("accessToken", accessToken)
    object.put("tokenType", tokenType)
    object.put("scopes", scopes)
    object["expiry"] = expiry.json
    object.put("epoch", Int64(bitPattern: epoch))
    if isSuperseded { object["superseded"] = .bool(true) }
    object.put("deviation", deviation)
    return .object(object)
  }

  fileprivate init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    self.init(
      accessToken: object.secret("accessToken"), tokenType: object.string("tokenType"),
      scopes: object.strings("scopes"),
      expiry: object.expiry("expiry"),
      epoch: UInt64(bitPattern: object.integer("epoch")))
    isSuperseded = object.flag("superseded")
    deviation = object.optionalString("deviation")
    try object.end()
  }
}
