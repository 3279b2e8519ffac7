// A store with many accounts, for the measurements of scale (../scale.py).

import CPosix
import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollHost
import EnrollJSON
import EnrollStore

/// Makes the accounts numbered from `first` up to `end`, `end` excluded, in a store: each is signed in at the
/// provider of a configuration.
func fill(_ folder: String, from first: Int, to end: Int, _ configuration: String) throws(EnrollError) {
  let json: JSON
  do {
    json = try JSON.parse(Array(configuration.utf8))
  } catch {
    fail(error.message)
  }
  let configuration = try Configuration(json: json)
  let store = try FileTokenStore(path: folder, clock: clock)
  for number in first..<end {
    let tokens = TokenSet(
      accessToken: Secret(String(repeating: "a", count: 900)), tokenType: "Bearer",
      refreshToken: Secret(String(repeating: "r", count: 900)), idToken: nil, scopes: ["openid"],
      expiry: Expiry(lifetimeSeconds: 360_000, from: clock.moment()), identity: nil, source: .issuer)
    let account = try AccountName("account-\(number)").belonging(to: configuration)
    try store.update(account) { $0.confirmed = tokens }
  }
}

/// The value of an environment variable; Embedded Swift has no command line arguments.
func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
