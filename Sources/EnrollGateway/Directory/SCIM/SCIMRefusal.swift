// A refusal of a SCIM directory, by its status and its `scimType` (RFC 7644 §3.12). The words of `detail` stay out of the log: they may repeat
// what was sent.

import EnrollCore
import EnrollJSON
import EnrollHTTP

struct SCIMRefusal {
  let status: Int
  /// One of RFC 7644's words; nil for every other.
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

  /// Another user has the name.
  var isTaken: Bool { status == 409 || type == "uniqueness" }

  /// The wish of a request whose value is a person's own.
  static let settingPassword = "set the password"

  /// - Parameter wish: of the request: `create`.
  func failure(of wish: String) -> DirectoryFailure {
    let told = "the directory refuses to \(wish) (\(status)\(type.map { ", " + $0 } ?? ""))"
    switch status {
    case 401, 403: return .refused(told + ": check the token's rights")
    case 404 where wish != "search" && wish != "create": return .unknownPerson
    case 400 where ASCII.equals(wish, Self.settingPassword) && (type == nil || type == "invalidValue"):
      return .invalidPassword(told)
    case 412: return .unavailable("the directory's user was changed twice meanwhile (412)")
    case 413: return .fault(told + ": the request is too large for it")
    case 400 where type == "invalidFilter":
      return .unsupported(told + ": name the attributes that it filters by in directory.lookup")
    default: return .fault(told)
    }
  }
}
