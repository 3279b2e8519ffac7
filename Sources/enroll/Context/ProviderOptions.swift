// Converts the document of a configuration back to the options that produced it.

import EnrollRules

enum ProviderOptions {
  /// The default redirect URI.
  static let redirectURI = "http://127.0.0.1/callback"

  /// The options that produce this document.
  static func words(_ document: ConfigurationDocument) -> [String] {
    var words = ArgumentWords()
    words.add("--issuer", document.issuer)
    words.add("--provider", document.provider)
    for part in ProviderPreset.partNames {
      words.add("--set", document.part(part).map { "\(part)=\($0)" })
    }
    words.add("--set", document.certificateFile.map { "caFile=\($0)" })
    words.add("--client-id", document.clientID)
    words.add("--redirect-uri", document.redirectURI == redirectURI ? nil : document.redirectURI)
    words.add("--allow-loopback-http", document.allowsLoopbackHTTP)
    return words.list
  }
}
