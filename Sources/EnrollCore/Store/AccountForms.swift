// How the older forms of an account's document become newer ones (StoreForm). Everything else that a newer form has is
// optional: its absence is what the older one meant.

import EnrollJSON

enum AccountForms {
  /// 1 → 2: an id_token of a renewal that was not proven stood in the place of the proven one, with a mark beside it.
  static let provenIDTokens: StoreForm<JSONObject>.Step = { document in
    var document = document
    guard var record = document["record"]?.object else { return .success(document) }
    for name in ["confirmed", "provisional"] {
      guard var tokens = record[name]?.object else { continue }
      guard let isVerified = tokens["isVerified"]?.bool else { return .success(nil) }
      tokens["isVerified"] = nil
      if !isVerified {
        tokens["unprovenIDToken"] = tokens["idToken"]
        tokens["idToken"] = nil
      }
      record[name] = .object(tokens)
    }
    document["record"] = .object(record)
    return .success(document)
  }
}
