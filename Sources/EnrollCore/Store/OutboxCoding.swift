// The outbox as JSON for the store.

import EnrollCrypto
import EnrollJSON

extension OutboxEntry {
  var json: JSON {
    var object = JSONObject()
    object["issuer"] = .string(issuer)
    object["endpoint"] = endpoint.map { .string($0) }
    object["clientID"] = .string(clientID)
    object["token"] = .secret(token)
    object["hint"] = .string(hint)
    object["bearer"] = bearer.map { .secret($0) }
    object["queued"] = .time(queued)
    object["attempts"] = .integer(Int64(attempts))
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    issuer = try object.string("issuer")
    endpoint = try object.optionalString("endpoint")
    clientID = try object.string("clientID")
    token = try object.secret("token")
    hint = try object.string("hint")
    bearer = try object.optionalSecret("bearer")
    queued = try object.time("queued")
    attempts = Int(truncatingIfNeeded: try object.integer("attempts"))
    try object.end()
  }
}
