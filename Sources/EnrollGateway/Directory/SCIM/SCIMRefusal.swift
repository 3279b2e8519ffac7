// A refusal of a SCIM directory: its status and its `scimType` (RFC 7644 §3.12). The text of `detail` stays
// out of the log, because it may repeat data of the request.

import EnrollRules
import EnrollJSON
import EnrollHTTP

struct SCIMRefusal {
  let status: Int
  /// The `scimType`, if it is one of RFC 7644's values; otherwise nil.
  let type: String?

  private static let types = [
    "invalidFilter", "tooMany", "uniqueness", "mutability", "invalidSyntax", "invalidPath", "noTarget",
    "invalidValue", "invalidVers", "sensitive",
  ]

  init(_ answer: DirectoryHTTP.Answer) {
    status = answer.status
    let told = answer.json?["scimType"]?.string
    type = Self.types.first { known in told.map { ASCII.equals($0, known) } ?? false }
  }

  /// True if another user has the name.
  var isTaken: Bool { status == 409 || type == "uniqueness" }

  /// The operation in which status 400 means that the directory does not accept the password.
  static let settingPassword = "set the password"

  /// The failure that this refusal means for the operation.
  /// - Parameter operation: the operation, for the message: `create`.
  func failure(of operation: String) -> DirectoryFailure {
    let text = "the directory refuses to \(operation) (\(status)\(type.map { ", " + $0 } ?? ""))"
    switch status {
    case 401, 403: return .refused(text + ": check the token's rights")
    case 404 where operation != "search" && operation != "create": return .unknownPerson
    case 400 where ASCII.equals(operation, Self.settingPassword) && (type == nil || type == "invalidValue"):
      return .invalidPassword(text)
    case 412: return .unavailable("the directory's user was changed twice meanwhile (412)")
    case 413: return .fault(text + ": the request is too large for it")
    case 400 where type == "invalidFilter":
      return .unsupported(text + ": name the attributes that it filters by in directory.lookup")
    default: return .fault(text)
    }
  }
}
