// The secrets of an account's record (R40).

import EnrollCrypto

extension SentSecrets {
  /// The secrets of an account's transactions that were sent to the browser or the provider, and the account's tokens.
  package init(of record: AccountRecord) {
    var all: [Secret] = []
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
    for tokens in [record.confirmed, record.provisional] { if let tokens { all += tokens.secrets } }
    self.init(all)
  }
}
