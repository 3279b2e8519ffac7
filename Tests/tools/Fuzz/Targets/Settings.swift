// The configuration that a host passes.

import EnrollJSON

@testable import EnrollRules

extension Target {
  static let configuration = [
    Target("configuration") { input in
      guard let json = try? JSON.parse(input) else { return }
      let configuration: Configuration
      do throws(EnrollError) {
        configuration = try Configuration(json: json)
      } catch {
        return require(error.code == .configuration, "a typed refusal")
      }
      require(
        (try? StrictURL(configuration.redirectURI, configured: configuration.redirectURI)) != nil,
        "a redirect that is one (R3)")
      require(
        (try? StrictURL(configuration.issuer.text))?.kind != .privateScheme
          && !configuration.clientID.text.isEmpty,
        "somebody to ask, and somebody who asks")
      for link in [configuration.fallbackURI, configuration.postLogoutRedirectURI].compactMap({ $0 }) {
        require((try? configuration.ownership(of: link)) != nil, "its own links are its own")
      }
    }
  ]
}
