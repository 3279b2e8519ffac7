// The URL that the browser opens, and the `Transaction` that the host gets for a stored transaction.

/// The URL that the browser opens.
package struct BrowserURL {
  package var text: String
  /// When the provider deletes the pushed request to which the URL refers, by this machine's clock; nil if the provider
  /// does not say.
  var expiresAt: UnixTime?

  package init(_ text: String, expiresAt: UnixTime? = nil) { (self.text, self.expiresAt) = (text, expiresAt) }
}

extension Transaction {
  package init(of transaction: TransactionRecord, opening url: BrowserURL) {
    self.init(of: transaction, action: .openURL(url.text))
    urlExpiresAt = url.expiresAt.map { min($0, expiresAt) }
  }

  package init(of transaction: TransactionRecord, action: HostAction) {
    self.init(
      transactionID: transaction.id, action: action, redirectURI: transaction.redirectURI,
      expiresAt: transaction.shownEnd, survivesProcess: transaction.survivesProcess)
  }
}
