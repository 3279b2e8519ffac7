// The form of the parameter `prompt` (OpenID Connect Core §3.1.2.1), in the configuration and in a sign-in.

/// The text of `prompt`: words separated by single spaces.
enum PromptText {
  /// The rule that this `prompt` breaks, as text for an error; nil if the `prompt` breaks no rule.
  static func expectation(brokenBy prompt: String) -> String? {
    let values = Scopes.split(prompt)
    guard values.allSatisfy({ isToken($0) }) else { return "words separated by single spaces" }
    guard values.count == 1 || !Scopes.contains("none", in: values) else {
      return "none stands alone (OpenID Connect Core §3.1.2.1)"
    }
    return nil
  }

  /// Whether the text is one word: 1 to 256 printable characters without a space.
  static func isToken(_ text: String) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
