// The forms of every kind of content of a store: the form that this program writes, and the older forms that it can
// read.

import EnrollRules
import EnrollJSON

/// The formats of the documents that a program writes. Tests use the formats of a later version.
struct StoreForms: Sendable {
  var sealed = SealedFormat.form
  var account = AccountDocument.form
  var outbox = OutboxDocument.form
  var installation = InstallationDocument.form
  var keys = KeysFile.form

  init() {}

  static let today = StoreForms()
}
