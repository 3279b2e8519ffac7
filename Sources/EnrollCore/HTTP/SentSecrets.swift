// The secrets that a request carried. Some servers quote the token that they refuse; nothing that an answer says is told
// on where it repeats one of them (R40).

import EnrollCrypto
import EnrollJSON

/// The secrets of a request, which its answer must not repeat.
struct SentSecrets: Sendable {
  /// A shorter secret is not looked for: it could stand in any text.
  static let minimumBytes = 6
  /// A secret is recognised by so many of its first bytes: a text may have been cut.
  static let recognisedBytes = 32

  private var all: [Secret] = []

  init() {}

  init(of request: HTTPRequest) {
    all = request.secrets
    if let shown = request.headers.value(of: "Authorization") {
      // Behind the scheme.
      let token = shown.utf8.drop { $0 != 0x20 }.dropFirst()
      all.append(Secret(Array(token)))
    }
  }

  /// Whether `text` repeats one of them.
  func areRepeated(in text: String) -> Bool {
    all.contains { secret in
      guard secret.count >= Self.minimumBytes else { return false }
      return secret.withBytes { bytes in
        ASCII.contains(
          text.utf8.span, UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.recognisedBytes)))
      }
    }
  }

  /// The answer without the members and elements that repeat one of them.
  func hidden(in answer: JSONObject) -> JSONObject { answer.without(texts: areRepeated) }
}

extension EnrollError {
  /// The same without words that repeat a secret.
  func hiding(_ sent: SentSecrets) -> EnrollError {
    guard sent.areRepeated(in: message) else { return self }
    return saying("the answer was refused; the reason repeats a secret that was sent, and is not shown (R40)")
  }
}
