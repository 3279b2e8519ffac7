// Tokens that are removed from the store, or were never stored. EnrollKit revokes such tokens (R35).

package import EnrollJSON

/// Tokens that are removed from the store, or were never stored, together with their user.
package struct UnkeptTokens {
  package let tokens: TokenSet
  /// The subject; nil if neither a verified id_token nor a profile names a subject.
  package let user: String?

  package init(_ tokens: TokenSet, user: String?) {
    self.tokens = tokens
    self.user = user
  }

  /// - Returns: nil if there are no tokens.
  package init?(_ tokens: TokenSet?, _ profile: JSONObject?) {
    guard let tokens else { return nil }
    self.init(tokens, user: tokens.identity?.subject ?? profile?["sub"]?.string)
  }
}
