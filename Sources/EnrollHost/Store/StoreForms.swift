// The forms of everything that a store keeps, in one value: what one program writes, and what older ones wrote that it reads.

package import EnrollCore
package import EnrollJSON

/// A program's forms. Tests have those of a program of tomorrow.
package struct StoreForms: Sendable {
  package var sealed = SealedFormat.form
  package var account = AccountDocument.form
  package var outbox = OutboxDocument.form
  package var installation = InstallationDocument.form
  package var keys = KeysFile.form

  package init() {}

  package static let today = StoreForms()
}
