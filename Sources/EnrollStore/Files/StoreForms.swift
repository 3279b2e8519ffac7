// For every kind of content in a store: the form that this program writes, and the older forms that it can read.

import EnrollRules
import EnrollJSON

/// The forms of the documents, as one version of the program writes them. Tests use the forms of a later version.
struct StoreForms: Sendable {
  var sealed = SealedFormat.form
  var account = AccountDocument.form
  var outbox = OutboxDocument.form
  var installation = InstallationDocument.form
  var keys = KeysFile.form

  init() {}

  static let today = StoreForms()
}
