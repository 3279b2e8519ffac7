// A provider's documents as the store keeps them.

package import EnrollCrypto
package import EnrollJSON

extension ProviderDocuments {
  package static let form = StoreForm<JSONObject>("provider", newest: 1)

  /// The documents as text for the store.
  /// - Returns: UTF-8 text that ``init(decoding:of:as:)`` reads.
  package func encoded(of provider: ProviderName, as form: StoreForm<JSONObject> = form) -> Secret {
    StoreText.secret(
      .object([
        ("version", .integer(form.newest)), ("provider", .string(provider.text)),
        ("metadata", metadata?.json),
        ("keys", keys?.json),
      ]))
  }

  /// Reads the documents from the store's text.
  /// - Throws: as ``AccountDocument/init(decoding:as:)``; also `.storeCorrupt` for the documents of another provider.
  package init(
    decoding text: Secret, of provider: ProviderName? = nil, as form: StoreForm<JSONObject> = form
  ) throws(EnrollError) {
    let (object, _) = try StoreText.document(try StoreText.parse(text, form.name), form)
    let name = object.string("provider")
    try object.check()
    if let provider, !ASCII.equals(name, provider.text) {
      throw EnrollError(.storeCorrupt, "provider: of another provider", field: "provider")
    }
    metadata = try object.optional("metadata").map { json throws(EnrollError) in
      try KeptDocument(json: json, "provider.metadata")
    }
    keys = try object.optional("keys").map { json throws(EnrollError) in
      try KeptDocument(json: json, "provider.keys")
    }
    try object.end()
  }
}

extension KeptDocument {
  var json: JSON {
    .object([
      ("url", .string(url)), ("body", .string(String(decoding: body, as: UTF8.self))),
      ("tag", tag.map { .string($0) }), ("freshness", freshness.json), ("pause", pause?.json),
    ])
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    url = object.string("url")
    body = Array(object.string("body").utf8)
    tag = object.optionalString("tag")
    freshness = object.expiry("freshness")
    pause = object.optionalExpiry("pause")
    try object.end()
  }
}
