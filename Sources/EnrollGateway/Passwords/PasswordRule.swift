// The rules for new passwords (NIST SP 800-63B-4 §3.1.1.2): at least 15 characters, because a password is the only factor; no
// rule about kinds of characters, no expiry. Refused: the most common long passwords, repetitions, sequences, and passwords
// made of the user's own address. Every Unicode character counts, blanks included; control characters are refused.

import EnrollRules
import EnrollGatewayPages

enum PasswordRule {
  static let shortest = 15
  /// The maximum length of a password, in bytes of UTF-8, which limits the size of a request. NIST requires that
  /// passwords of 64 characters are accepted.
  static let longest = 1_024

  /// Why the password is refused; nil if it is accepted.
  static func error(in password: String, email: String) -> FieldError? {
    guard password.utf8.count <= longest else { return .passwordLong }
    let scalars = Array(password.unicodeScalars)
    guard !scalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return .passwordRefused }
    guard scalars.count >= shortest else { return .passwordShort }
    let lower = scalars.map { $0.value < 0x80 ? UInt32(ASCII.lowercased(UInt8($0.value))) : $0.value }
    guard !isRepetition(lower), !isSequence(lower), !isCommon(lower, email: email) else {
      return .passwordCommon
    }
    return nil
  }

  /// Whether up to five characters repeat: `aaaaaaaaaaaaaaa`, `abcabcabcabcabc`.
  private static func isRepetition(_ text: [UInt32]) -> Bool {
    (1...5).contains { period in
      text.indices.dropFirst(period).allSatisfy { text[$0] == text[$0 - period] }
    }
  }

  /// Whether the characters are consecutive, forwards or backwards, with `0` after `9`: `123456789012345`,
  /// `abcdefghijklmno`.
  private static func isSequence(_ text: [UInt32]) -> Bool {
    [1, -1].contains { (step: Int64) in
      zip(text, text.dropFirst()).allSatisfy { first, second in
        let difference = Int64(second) - Int64(first)
        return difference == step || (first == 0x39 && second == 0x30 && step == 1)
          || (first == 0x30 && second == 0x39 && step == -1)
      }
    }
  }

  /// Whether a password consists only of parts of common passwords and of the user's address: attackers try such
  /// passwords first.
  private static func isCommon(_ text: [UInt32], email: String) -> Bool {
    let address = email.utf8.map { UInt32(ASCII.lowercased($0)) }
    let own = [address, Array(address.prefix { $0 != 0x40 })].map(significant)
    var rest = significant(text)[...]
    while !rest.isEmpty {
      guard let word = (own + words).first(where: { !$0.isEmpty && rest.starts(with: $0) }) else {
        return false
      }
      rest = rest.dropFirst(word.count)
    }
    return true
  }

  /// Removes the ASCII characters that are neither letters nor digits, because they do not make a common
  /// password stronger.
  /// - Parameter text: the password in lower case.
  private static func significant(_ text: [UInt32]) -> [UInt32] {
    text.filter { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 >= 0x80 }
  }

  private static let words: [[UInt32]] = [
    "password", "passwort", "passw0rd", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "yxcvbnm",
    "qwerty", "qwertz", "qwer", "asdf", "1q2w3e4r5t6y7u8i9o0p", "1q2w3e4r5t", "1q2w3e4r", "1qaz2wsx3edc4rfv",
    "1qaz2wsx", "qazwsxedc", "qazwsx", "iloveyou", "ichliebedich", "welcome", "willkommen", "letmein",
    "administrator", "admin", "dragon", "monkey", "football", "baseball", "sunshine", "princess", "superman",
    "batman", "trustno1", "changeme", "secret", "login", "hallo", "hello", "correcthorsebatterystaple",
    "1234567890", "0987654321", "123456789", "12345678", "1234567", "123456", "12345", "1234", "123",
    "2024", "2025", "2026", "111", "000", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
  ].map { $0.utf8.map { UInt32($0) } }
}
