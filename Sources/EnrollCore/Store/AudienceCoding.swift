// Access tokens for other audiences as JSON for the store. A session without any has no such member.

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
    object["resource"] = audience.resource.map { .string($0) }
    object["scopes"] = .strings(audience.scopes)
    object["token"] = token?.json
    object["refusal"] = refusal?.json
    object["backoff"] = backoff?.json
    return .object(object)
  }

  fileprivate init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    self.init(
      TokenAudience(resource: try object.optionalString("resource"), scopes: try object.strings("scopes")))
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
    object["accessToken"] = .secret(accessToken)
    object["tokenType"] = .string(tokenType)
    object["scopes"] = .strings(scopes)
    object["expiry"] = expiry.json
    object["epoch"] = .integer(Int64(bitPattern: epoch))
    return .object(object)
  }

  fileprivate init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    self.init(
      accessToken: try object.secret("accessToken"), tokenType: try object.string("tokenType"),
      scopes: try object.strings("scopes"),
      expiry: try Expiry(json: object.value("expiry"), place + ".expiry"),
      epoch: UInt64(bitPattern: try object.integer("epoch")))
    try object.end()
  }
}
