// The secrets of a request or of an account. Some servers quote the token that they refuse; text of a response that
// repeats a secret is not passed on (R40).

package import EnrollCrypto
package import EnrollJSON

/// The secrets of a request. The texts of its response must not repeat them.
package struct SentSecrets: Sendable {
  /// The minimum length of a secret that is searched for, in bytes. A shorter secret could be part of any text.
  static let minimumBytes = 6
  /// The number of first bytes by which a secret is recognised. The rest is not needed, because a server's text may be
  /// cut off.
  static let recognisedBytes = 32

  private var all: [Secret] = []

  package init(_ secrets: [Secret] = []) { all = secrets }

  package mutating func add(_ others: SentSecrets) { all += others.all }

  package init(of request: HTTPRequest) {
    all = request.secrets
    if let shown = request.headers.value(of: "Authorization") {
      // The part of the header after the scheme is the token.
      let token = shown.utf8.drop { $0 != 0x20 }.dropFirst()
      all.append(Secret(Array(token)))
    }
  }

  /// Whether `text` repeats one of the secrets.
  package func areRepeated(in text: String) -> Bool { areRepeated(in: text, from: Self.minimumBytes) }

  private func areRepeated(in text: String, from minimumBytes: Int) -> Bool {
    all.contains { secret in
      guard secret.count >= minimumBytes else { return false }
      return secret.withBytes { bytes in
        ASCII.contains(
          text.utf8.span, UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.recognisedBytes)))
      }
    }
  }

  /// The number of bytes in a row that count as a part of a secret in an error code: no error code has that many bytes
  /// of a secret by chance.
  private static let codeRunBytes = 8
  /// The number of bytes in a row that count as a part of a secret in a sentence. It is higher than for an error code,
  /// because a sentence may share a word with a secret that a user chose.
  private static let textRunBytes = 16

  /// An error code of a token endpoint or a redirect, without secrets. nil if the code repeats a secret;
  /// ``TokenEndpointError/otherError`` if it has a part of a secret, or does not look like a registered code.
  func shown(errorCode code: String) -> String? {
    if RefusalContent(code: code, isEmpty: false) != .otherCode { return code }
    if areRepeated(in: code) { return nil }
    let isUsual = PrintableText.isUsualErrorCode(code) && !haveRun(of: Self.codeRunBytes, in: code)
    return isUsual ? code : TokenEndpointError.otherError
  }

  /// Whether `text` has this many bytes of a secret in a row, in any case.
  private func haveRun(of length: Int, in text: String) -> Bool {
    let text = QuotingText(text)
    return all.contains { text.quotes($0, as: [.plain], from: length) }
  }

  fileprivate func areToldOf(in text: String) -> Bool {
    if areRepeated(in: text) { return true }
    let decoded = PercentEncoding.decode(Array(text.utf8)[...], plusForSpace: false) ?? []
    return [QuotingText(text), QuotingText(String(decoding: decoded, as: UTF8.self))].contains { text in
      text.hasJWT
        || all.contains { text.quotes($0, as: QuotingText.Spelling.allCases, from: Self.textRunBytes) }
    }
  }

  /// A server's error description without secrets, printable and bounded; nil if there is no description, or if it
  /// repeats or may repeat a secret.
  package func shown(description text: String?) -> String? {
    guard let text, !text.isEmpty, !areToldOf(in: text) else { return nil }
    return PrintableText.bounded(text, maximumBytes: EnrollError.maximumDescriptionBytes)
  }

  /// The granted scopes, except the scopes that repeat or may repeat a secret.
  func hidden(inScopes scopes: [String]) -> [String] { scopes.filter { !areToldOf(in: $0) } }

  /// The response without the members and elements that repeat a secret.
  package func hidden(in answer: JSONObject) -> JSONObject { answer.without { areRepeated(in: $0) } }

  /// The minimum length of a token that is searched for in claims. No claim has such a token by chance, but a shorter
  /// token, such as a one-time code, may be part of a telephone number.
  private static let minimumTokenBytes = 16

  /// Whether a claim about a user repeats a token.
  func areRepeated(inClaim text: String) -> Bool { areRepeated(in: text, from: Self.minimumTokenBytes) }

  /// The claims about a user without those that repeat a token. `sub` stays, because it was compared with the `sub` of
  /// the id_token.
  package func hidden(inClaims claims: JSONObject) -> JSONObject {
    var kept = claims.without { areRepeated(inClaim: $0) }
    kept["sub"] = claims["sub"]
    return kept
  }

  /// Like ``hidden(inClaims:)``, for claims whose `sub` was not compared with the `sub` of an id_token.
  /// - Throws: `.responseInvalid` for a `sub` that repeats a secret, because it would be shown and stored.
  package func hiddenChecked(inClaims claims: JSONObject) throws(EnrollError) -> JSONObject {
    if let sub = claims["sub"]?.string, areRepeated(inClaim: sub) {
      throw EnrollError(.responseInvalid, "sub repeats a secret that was sent", field: "sub")
    }
    return hidden(inClaims: claims)
  }
}

extension EnrollError {
  /// This error without the texts that repeat or may repeat a secret.
  package func hiding(_ sent: SentSecrets) -> EnrollError {
    let shown = oauthError.flatMap { sent.shown(errorCode: $0) }
    guard
      shown != oauthError || sent.areToldOf(in: message)
        || oauthErrorDescription.map({ sent.areToldOf(in: $0) }) ?? false
    else { return self }
    return EnrollError(
      code,
      "the answer was refused; the reason repeats a secret that was sent, or may do so, and is not shown",
      field: field, httpStatus: httpStatus, oauthError: shown, retryAfterSeconds: retryAfterSeconds)
  }
}
