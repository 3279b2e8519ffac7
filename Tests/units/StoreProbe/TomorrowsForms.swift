// A newer program: it writes the next format of every document, and reads the formats of the present program.
// Each upgrade step leaves a trace, so that the test notices a step that is omitted or done twice.

@testable import EnrollPosix
@testable import EnrollStore
import EnrollRules
import EnrollHost
import EnrollJSON

extension StoreForms {
  /// In the newer formats a record's type begins with a plus, and so do the issuers in the outbox.
  static var tomorrow: StoreForms {
    var forms = StoreForms()
    forms.sealed = StoreForm(
      "sealed file", newest: 2, [{ old in Result { () throws(EnrollError) in try sealedAnew(old) } }])
    forms.account = StoreForm(
      "account", newest: AccountDocument.form.newest + 1, [{ .success(withPlus($0)) }])
    forms.outbox = StoreForm("outbox", newest: 2, [{ .success(issuersWithPlus($0)) }])
    forms.installation = StoreForm("installation", newest: 2, [{ .success($0) }])
    forms.keys = StoreForm("keys file", newest: 2, [{ .success($0) }])
    return forms
  }

  private static func sealedAnew(_ old: SealedBytes) throws(EnrollError) -> SealedBytes {
    let (plaintext, generation) = try SealedFormat.open(old.file, tag: old.tag, keys: old.keys)
    var new = old
    new.file = try SealedFormat.seal(
      plaintext, tag: old.tag, generation: generation, keys: old.keys, random: SystemRandomSource(),
      as: StoreForm("sealed file", newest: 2))
    return new
  }

  private static func withPlus(_ old: JSONObject) -> JSONObject? {
    // Under a PIN the record is sealed.
    guard var record = old["record"]?.object, let type = record["registrationType"]?.string else {
      return old
    }
    record["registrationType"] = .string("+" + type)
    var new = old
    new["record"] = .object(record)
    return new
  }

  private static func issuersWithPlus(_ old: JSONObject) -> JSONObject? {
    guard let entries = old["entries"]?.array else { return nil }
    var changed: [JSON] = []
    for entry in entries {
      guard var members = entry.object, let issuer = members["issuer"]?.string else { return nil }
      members["issuer"] = .string("+" + issuer)
      changed.append(.object(members))
    }
    var new = old
    new["entries"] = .array(changed)
    return new
  }
}
