// The secrets that a request carried, or that an account holds. Some servers quote the token that they refuse; nothing that
// an answer says is told on where it repeats one of them (R40).

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

  /// The secrets of an account's transactions that were sent to the browser or the provider, and its tokens.
  init(of record: AccountRecord) {
    for transaction in record.transactions {
      if let request = transaction.codeRequest {
        all.append(request.redirect.state)
        if let secrets = request.secrets { all += [secrets.nonce, secrets.codeVerifier] }
      }
      if case .bff(let bff) = transaction.flow {
        all.append(bff.redirect.state)
        if let exchange = bff.exchange { all.append(exchange.codeVerifier) }
      }
    }
    for tokens in [record.confirmed, record.provisional] { if let tokens { add(tokens) } }
  }

  /// - Parameter others: tokens that these took the place of.
  /// - Parameter clientSecret: which every request for tokens carries.
  init(of tokens: TokenSet, and others: TokenSet? = nil, clientSecret: Secret? = nil) {
    if let clientSecret { all.append(clientSecret) }
    add(tokens)
    if let others { add(others) }
  }

  private mutating func add(_ tokens: TokenSet) {
    all.append(tokens.accessToken)
    for token in [tokens.refreshToken, tokens.idToken, tokens.unprovenIDToken] {
      if let token { all.append(token) }
    }
    for entry in tokens.audiences.entries { if let token = entry.token { all.append(token.accessToken) } }
  }

  init(of request: HTTPRequest) {
    all = request.secrets
    if let shown = request.headers.value(of: "Authorization") {
      // Behind the scheme.
      let token = shown.utf8.drop { $0 != 0x20 }.dropFirst()
      all.append(Secret(Array(token)))
    }
  }

  /// Whether `text` repeats one of them.
  func areRepeated(in text: String) -> Bool { areRepeated(in: text, from: Self.minimumBytes) }

  private func areRepeated(in text: String, from minimumBytes: Int) -> Bool {
    all.contains { secret in
      guard secret.count >= minimumBytes else { return false }
      return secret.withBytes { bytes in
        ASCII.contains(
          text.utf8.span, UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.recognisedBytes)))
      }
    }
  }

  /// So many characters of a secret in a row are a part of it: no word of an error code is.
  private static let codeRunBytes = 8
  /// The same in a sentence, which may share a word with a secret that a person chose.
  private static let textRunBytes = 16

  /// An error code of a token endpoint or a redirect, as it may be told on: nil where it repeats one of them, and
  /// ``TokenEndpointError/otherError`` where it has a part of one, or is built as no registered code is.
  func shown(errorCode code: String) -> String? {
    if RefusalContent(code: code, isEmpty: false) != .otherCode { return code }
    if areRepeated(in: code) { return nil }
    let isUsual = PrintableText.isUsualErrorCode(code) && !haveRun(of: Self.codeRunBytes, in: code)
    return isUsual ? code : TokenEndpointError.otherError
  }

  /// Whether `text` has so many bytes of one of them in a row, in whatever case.
  private func haveRun(of length: Int, in text: String) -> Bool {
    let text = Array(text.utf8)
    guard text.count >= length else { return false }
    return all.contains { secret in
      secret.withBytes { bytes in
        bytes.count >= length
          && (0...(text.count - length)).contains { start in
            (0...(bytes.count - length)).contains { place in
              (0..<length).allSatisfy { text[start + $0] | 0x20 == bytes[place + $0] | 0x20 }
            }
          }
      }
    }
  }

  fileprivate func areToldOf(in text: String) -> Bool {
    areRepeated(in: text) || haveRun(of: Self.textRunBytes, in: text)
  }

  /// The answer without the members and elements that repeat one of them.
  func hidden(in answer: JSONObject) -> JSONObject { answer.without { areRepeated(in: $0) } }

  /// As long as a token is, so that no claim holds it by chance: a one-time code may stand in a telephone number.
  private static let minimumTokenBytes = 16

  /// Whether a claim about a user repeats a token.
  func areRepeated(inClaim text: String) -> Bool { areRepeated(in: text, from: Self.minimumTokenBytes) }

  /// The claims about a user without those that repeat a token. `sub` stays: it has been compared with the id_token's.
  func hidden(inClaims claims: JSONObject) -> JSONObject {
    var kept = claims.without { areRepeated(inClaim: $0) }
    kept["sub"] = claims["sub"]
    return kept
  }

  /// The same of claims whose `sub` is new.
  /// - Throws: `.responseInvalid` for a `sub` that repeats a secret: it would be shown and stored.
  func hiddenChecked(inClaims claims: JSONObject) throws(EnrollError) -> JSONObject {
    if let sub = claims["sub"]?.string, areRepeated(inClaim: sub) {
      throw EnrollError(.responseInvalid, "sub repeats a secret that was sent", field: "sub")
    }
    return hidden(inClaims: claims)
  }
}

extension EnrollError {
  /// The same without words that repeat a secret, or may be a part of one.
  func hiding(_ sent: SentSecrets) -> EnrollError {
    let shown = oauthError.flatMap { sent.shown(errorCode: $0) }
    guard shown != oauthError || sent.areToldOf(in: message) else { return self }
    return EnrollError(
      code,
      "the answer was refused; the reason repeats a secret that was sent, or may do so, and is not shown",
      field: field, httpStatus: httpStatus, oauthError: shown, retryAfterSeconds: retryAfterSeconds)
  }
}
