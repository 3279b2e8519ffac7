// The options that name a provider, from the configuration that they gave.

import EnrollCore
import EnrollJSON

enum ProviderOptions {
  /// The redirect URI, where nobody named one.
  static let redirectURI = "http://127.0.0.1/callback"

  /// The options that give such a configuration.
  static func words(_ configuration: JSON) -> [String] {
    var words = ArgumentWords()
    words.add("--issuer", configuration["issuer"]?.string)
    words.add("--provider", configuration["provider"]?.string)
    for part in ProviderPreset.partNames {
      words.add("--set", configuration[part]?.string.map { "\(part)=\($0)" })
    }
    words.add("--client-id", configuration["clientId"]?.string)
    let redirectURI = configuration["redirectUri"]?.string
    words.add("--redirect-uri", redirectURI == Self.redirectURI ? nil : redirectURI)
    words.add("--allow-loopback-http", configuration["allowLoopbackHTTP"]?.bool ?? false)
    return words.list
  }
}

extension JSON {
  /// Compact text.
  var text: String { String(decoding: serialized(), as: UTF8.self) }
}
