// The limits of the options for a sign-in. They are checked before anything is sent.

import EnrollCommands
import EnrollRules

extension SignIn {
  /// - Throws: `.invalidArgument` for a text that is too long.
  static func check(_ options: SignInOptions) throws(EnrollError) {
    if let hint = options.loginHint {
      try TextLimits.check(hint, "options.loginHint", TextLimits.loginHint)
    }
    if let prompt = options.prompt { try TextLimits.check(prompt, "options.prompt", TextLimits.other) }
    if let connection = options.connection {
      try TextLimits.check(connection, "options.connection", TextLimits.connection)
    }
    if let scopes = options.scopes { try check(scopes) }
  }

  /// - Throws: `.invalidArgument` for too many scopes, and for a scope that is too long.
  static func check(_ scopes: [String]) throws(EnrollError) {
    try TextLimits.check(count: scopes.count, "scopes", Scopes.maximumCount)
    for (index, scope) in scopes.enumerated() {
      try TextLimits.check(scope, "scopes[\(index)]", TextLimits.other)
    }
  }
}
