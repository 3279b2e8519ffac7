// Parameters that a host adds to the authorize request. Refused: the protocol's own names, names for which
// ``SignInOptions`` has an option, repetitions (RFC 6749 §3.1), and parameters over a limit.

enum CustomParameters {
  static let maximumCount = 32
  static let maximumNameBytes = 64
  static let maximumValueBytes = 2048

  /// Parameters that only this library sets, in every request.
  static let protocolNames = [
    "response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "nonce",
    "code_challenge",
    "code_challenge_method", "request", "request_uri", "dpop_jkt", "code", "code_verifier", "grant_type",
    "client_secret", "client_assertion", "client_assertion_type",
  ]
  /// Parameters that the options of ``SignInOptions`` set. Their effect is checked in the response.
  static let optionNames = ["prompt", "login_hint", "max_age", "acr_values", "ui_locales", "id_token_hint"]

  /// The fault of the parameters; nil if they are valid.
  static func problem(in parameters: [(String, String)]) -> String? {
    guard parameters.count <= maximumCount else {
      return "expected at most \(maximumCount) parameters, got \(parameters.count)"
    }
    for (index, (name, value)) in parameters.enumerated() {
      guard (1...maximumNameBytes).contains(name.utf8.count), name.utf8.allSatisfy(isNameByte) else {
        return "the name of parameter \(index + 1) must be 1 to \(maximumNameBytes) letters, digits or -._"
      }
      if contains(name, in: protocolNames) { return "\(name) belongs to the protocol and cannot be set" }
      if contains(name, in: optionNames) { return "\(name) has an option of its own; use that" }
      guard value.utf8.count <= maximumValueBytes, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
        return "the value of \(name) must be at most \(maximumValueBytes) bytes without control characters"
      }
      if parameters[..<index].contains(where: { ASCII.equals($0.0, name) }) {
        return "\(name) is given twice"
      }
    }
    return nil
  }

  static func contains(_ name: String, in names: [String]) -> Bool {
    names.contains { ASCII.equals($0, name) }
  }

  /// Whether the byte is a `name-char` (RFC 6749 §8.2).
  private static func isNameByte(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
  }
}
