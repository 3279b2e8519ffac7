// The person is told by mail what happened to an account: whoever did it without being that person cannot keep it a secret. Mail goes
// to addresses alone that a provider vouches for; another may be a stranger's.

import EnrollCore
import EnrollGatewayPages
import EnrollHTTP

extension [Identity] {
  /// The addresses that a provider vouches for, each once.
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

extension Gateway {
  /// Posts one mail to each verified address of these identities.
  func tell(_ kind: AccountMail.Kind, about identities: [Identity], for request: WebRequest) {
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
