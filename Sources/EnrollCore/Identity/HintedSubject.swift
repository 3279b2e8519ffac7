// Whom an id_token is about, without asking whether it is proven: of one that the host hands in as a hint, which may have
// ended long ago.

import EnrollCrypto
import EnrollJSON

extension IDToken {
  /// nil for what is no signed JWT with a `sub`: an encrypted one says nothing here.
  static func subject(unproven token: Secret) -> String? {
    let parts = token.revealBytes().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
    return (try? JSON.parse(payload))?["sub"]?.string
  }
}
