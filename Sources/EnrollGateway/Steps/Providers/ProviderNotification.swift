// `POST /v1/auth/{provider}/notifications`: Apple reports that a user withdrew the consent, deleted the account, or
// changed the forwarding of mail (Sign in with Apple, Processing changes for Sign in with Apple accounts). The payload
// is a JWT that is signed with the keys of Apple's id_tokens. The gateway refuses a notification with another
// signature, issuer or audience, and a notification that is older than a day or from the future. A repeated
// notification does no harm: it ends only sessions that began before it was signed.

import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollGatewayPages
import EnrollJSON
import EnrollHTTP

/// A signed notification of a provider about one of its users.
struct ProviderNotification: Equatable {
  enum Event: Equatable {
    /// The user withdrew the consent, or deleted the account.
    case ended(String)
    /// An event that is only logged, such as a change of mail forwarding.
    case noted(String)
  }

  var event: Event
  /// `sub`, as in id_tokens.
  var subject: String
  var issued: UnixTime

  /// The longest age of a notification. The provider's retries come within a day.
  static let longestSeconds: Int64 = 86_400
  static let toleranceSeconds: Int64 = 300

  /// - Parameter claims: the claims of a JWT whose signature was verified.
  /// - Throws: `.idTokenInvalid`, which names the invalid claim.
  init(
    _ claims: JSONObject, issuer: String, audiences: [String], at now: UnixTime
  ) throws(EnrollError) {
    guard claims["iss"]?.string.map({ ASCII.equals($0, issuer) }) ?? false else {
      throw Self.refusal("iss is not the provider's issuer")
    }
    let named = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap { $0.string } ?? []
    guard named.contains(where: { name in audiences.contains { ASCII.equals($0, name) } }) else {
      throw Self.refusal("aud is not a client of the gateway")
    }
    guard let seconds = claims["iat"]?.integer else { throw Self.refusal("iat is missing") }
    issued = UnixTime(seconds: seconds)
    guard issued <= now + Self.toleranceSeconds else { throw Self.refusal("iat is in the future") }
    guard now <= issued + Self.longestSeconds else { throw Self.refusal("iat is more than a day ago") }
    // Apple writes the events as a string that contains JSON.
    let events =
      claims["events"]?.string.flatMap { text in try? JSON.parse(Array(text.utf8)) } ?? claims["events"]
    guard let type = events?["type"]?.string, let subject = events?["sub"]?.string,
      (1...SignInProvider.subjectLimit).contains(subject.utf8.count)
    else { throw Self.refusal("events has no type, or no sub") }
    self.subject = subject
    let name = PrintableText.bounded(type, maximumBytes: 64)
    let endings = ["consent-revoked", "account-deleted", "account-delete"]
    event = endings.contains { ASCII.equals($0, type) } ? .ended(name) : .noted(name)
  }

  private static func refusal(_ text: String) -> EnrollError {
    EnrollError(.idTokenInvalid, "notification refused: \(text)")
  }
}

extension ProviderRequests {
  func receiveNotification(
    _ request: WebRequest, _ provider: SignInProvider
  ) throws(Interruption) -> WebResponse {
    guard let audiences = provider.notificationAudiences else { throw .failure(.notFound) }
    guard request.query == nil, let body = try? JSON.parse(request.body),
      let payload = body["payload"]?.string
    else { throw .failure(.invalidRequest) }
    let notification: ProviderNotification
    do throws(EnrollError) {
      notification = try ProviderNotification(
        try provider.signedClaims(of: Secret(payload), named: "notification"), issuer: provider.issuer.text,
        audiences: audiences,
        at: now)
    } catch {
      log.write(.warning, "\(provider.name): \(error.code.name): \(error.message)")
      // If the check could not be made, the answer is 503, so that the provider sends the notification again.
      throw .failure(error.code == .idTokenInvalid ? .invalidRequest : .providerUnavailable)
    }
    switch notification.event {
    case .noted(let name): log.write(.info, "\(provider.name): notification \(name)")
    case .ended(let name):
      let key = IdentityKey(
        provider: provider.name, subject: provider.key(ofSubject: notification.subject))
      let count = try callingStore { () throws(StoreFailure) in
        try store.endSessions(ofIdentity: key, providerSession: nil, begunUntil: notification.issued, at: now)
      }
      log.write(.info, "\(provider.name): notification \(name): \(count) sessions were ended")
    }
    return WebResponse(200)
  }
}
