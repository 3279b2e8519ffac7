// Facebook's two callbacks. `POST /v1/auth/{provider}/data-deletion`: a user asked Facebook to delete their data. The
// gateway deletes the identity, or the account if it has no other identity; the answer has a confirmation code, and
// the URL of a page with the result. `POST /v1/auth/{provider}/deauthorize`: a user removed the app at Facebook; this
// ends the sessions that the identity began before the request was signed.
//
// The code is derived from the request's signature: a repeated request has the same code, and deletes nothing again. The code
// cannot be guessed, and neither the code nor the page identifies the user.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON
import EnrollHTTP

extension ProviderRequests {
  /// The time in seconds during which the page can show the result for a code: 90 days.
  static let deletionCodeSeconds: Int64 = 90 * 86_400

  /// `POST /v1/auth/{provider}/data-deletion`
  func deleteData(_ request: WebRequest, _ provider: SignInProvider) throws(Interruption) -> WebResponse {
    let signed = try signedRequest(request, of: provider)
    let code = try confirmationCode(of: signed, from: provider)
    let deletion = ProviderDeletion(
      identity: IdentityKey(provider: provider.name, subject: provider.key(ofSubject: signed.subject)),
      hash: try Self.deletionHash(ofCode: code), expires: now + Self.deletionCodeSeconds)
    switch try callingStore({ () throws(StoreFailure) in try store.deleteData(deletion, at: now) }) {
    case .account(let id, let deleted):
      log.write(.info, "\(provider.name): account \(id) was deleted, as its person asked the provider")
      notices.notify(.accountDeleted, about: deleted.identities, for: request)
    case .identity(let account, let before, let ended):
      log.write(
        .info,
        "\(provider.name): an identity of account \(account) was deleted, as its person asked the provider; \(ended) sessions ended"
      )
      notices.notify(.identityUnlinked(provider: provider.label), about: before, for: request)
    case .nobody:
      log.write(.info, "\(provider.name): a deletion was asked for, and there is nothing to delete")
    case .repeated: log.write(.info, "\(provider.name): a deletion was asked for again")
    }
    return .json(
      .object([
        ("url", .string("\(settings.publicURL)/data-deletion?code=\(code)")),
        ("confirmation_code", .string(code)),
      ]), headers: [HTTPHeader("Cache-Control", "no-store")])
  }

  /// `POST /v1/auth/{provider}/deauthorize`
  func deauthorize(_ request: WebRequest, _ provider: SignInProvider) throws(Interruption) -> WebResponse {
    let signed = try signedRequest(request, of: provider)
    let key = IdentityKey(provider: provider.name, subject: provider.key(ofSubject: signed.subject))
    let count = try callingStore { () throws(StoreFailure) in
      try store.endSessions(ofIdentity: key, providerSession: nil, begunUntil: signed.issued, at: now)
    }
    log.write(.info, "\(provider.name): somebody removed the app: \(count) sessions were ended")
    return WebResponse(200, headers: [HTTPHeader("Cache-Control", "no-store")])
  }

  /// `GET /data-deletion`: the result for a confirmation code.
  func deletionStatus(_ request: WebRequest) throws(Interruption) -> WebResponse {
    guard let code = Parameters(encoded: request.query)?["code"], code.utf8.count <= 64 else {
      throw .failure(.invalidRequest)
    }
    let hash = try Self.deletionHash(ofCode: code)
    let isDone = try callingStore { () throws(StoreFailure) in try store.isDataDeleted(hash: hash, at: now) }
    return views.answer(DataDeletionPage(isDone: isDone), for: request, status: isDone ? 200 : 404)
  }

  /// - Throws: `.failure(.notFound)` for a provider without such callbacks, `.failure(.invalidRequest)` for an invalid request.
  private func signedRequest(
    _ request: WebRequest, of provider: SignInProvider
  ) throws(Interruption) -> SignedRequest {
    guard let secret = provider.requestSecret else { throw .failure(.notFound) }
    guard request.query == nil, let text = request.form?["signed_request"] else {
      throw .failure(.invalidRequest)
    }
    do throws(EnrollError) { return try SignedRequest(text, secret: secret, at: now) } catch {
      guard error.code == .idTokenInvalid else { throw .own(error) }
      log.write(.warning, "\(provider.name): \(error.message)")
      throw .failure(.invalidRequest)
    }
  }

  /// 32 hexadecimal digits, derived from the request's signature.
  private func confirmationCode(
    of signed: SignedRequest, from provider: SignInProvider
  ) throws(Interruption) -> String {
    let named = Array("data-deletion \(provider.name) ".utf8) + signed.signature
    return Hexadecimal.text(of: Array(try Self.sha256(named).prefix(16)))
  }

  private static func deletionHash(ofCode code: String) throws(Interruption) -> [UInt8] {
    try sha256(Array("data-deletion code \(code)".utf8))
  }

  private static func sha256(_ bytes: [UInt8]) throws(Interruption) -> [UInt8] {
    do throws(CryptoError) { return try Digest.sha256.hash(bytes) } catch {
      throw .own(EnrollError(error, "SHA-256 failed"))
    }
  }
}
