// The forms of everything that a store keeps, in one value: what one program writes, and what older ones wrote that it reads.

import EnrollCore
import EnrollJSON

/// A program's forms. Tests have those of a program of tomorrow.
struct StoreForms: Sendable {
  var sealed = SealedFormat.form
  var account = AccountDocument.form
  var outbox = OutboxDocument.form
  var installation = InstallationDocument.form
  var keys = KeysFile.form

  init() {}

  static let today = StoreForms()
}
