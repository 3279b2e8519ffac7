// E-mails that tell the user about each change of the account, so that nobody else can change the account secretly.
// E-mail goes only to addresses that a provider has verified; an unverified address may belong to somebody else.

import EnrollSteps
import EnrollGatewayPages
import EnrollHTTP

extension [Identity] {
  /// The addresses that a provider has verified, without duplicates.
  public var verifiedAddresses: [EmailAddress] {
    var told: Set<String> = []
    return filter(\.isEmailVerified).compactMap { identity in
      guard let address = identity.email.flatMap({ try? EmailAddress($0) }),
        told.insert(address.key).inserted
      else { return nil }
      return address
    }
  }
}

/// E-mails about accounts.
struct AccountNotices: GatewaySteps {
  let services: GatewayServices
  /// The mailer that queues the e-mails; nil if no mail server is configured, so that users get no e-mails.
  let mailer: (any Mailer)?

  /// Queues one e-mail to each verified address of these identities.
  func notify(_ kind: AccountMail.Kind, about identities: [Identity], for request: WebRequest) {
    guard let mailer else { return }
    for address in identities.verifiedAddresses {
      do throws(StoreFailure) {
        try mailer.post(AccountMail(kind, to: address, in: views.language(request)))
      } catch {
        log.write(.error, "a mail about an account was not posted: \(error.message)")
      }
    }
  }
}
