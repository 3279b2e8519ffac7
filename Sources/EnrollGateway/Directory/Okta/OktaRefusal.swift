// A refusal in Okta's dialect: a status, `errorCode` and `errorCauses`. The texts of a refusal stay out of the log,
// because they may repeat data of the request. The gateway compares only the beginning of each cause's text, where the
// attribute is named.

import EnrollRules
import EnrollJSON
import EnrollHTTP

struct OktaRefusal {
  let status: Int
  /// The `errorCode`: `E` and seven digits; nil for any other text.
  let code: String?
  private let causes: [String]

  init(_ answer: DirectoryHTTP.Answer) {
    status = answer.status
    code = answer.json?["errorCode"]?.string.flatMap { Self.isCode($0) ? $0 : nil }
    causes = (answer.json?["errorCauses"]?.array ?? []).compactMap { $0["errorSummary"]?.string }
  }

  private static func isCode(_ text: String) -> Bool {
    text.utf8.count == 8 && text.utf8.first == 0x45 && text.utf8.dropFirst().allSatisfy { ASCII.isDigit($0) }
  }

  private func isCode(_ known: String) -> Bool { code.map { ASCII.equals($0, known) } ?? false }

  /// Whether the validation of this attribute failed.
  private func isInvalid(_ attribute: String) -> Bool {
    isCode("E0000001") && causes.contains { $0.utf8.starts(with: "\(attribute):".utf8) }
  }

  /// True if another user has the login.
  var isTaken: Bool {
    isCode("E0000001")
      && causes.contains { $0.utf8.starts(with: "login: An object with this field already exists".utf8) }
  }

  /// True if the user does not exist.
  var isUnknown: Bool { isCode("E0000007") || status == 404 }

  /// True if the user is active already.
  var isActive: Bool { isCode("E0000016") }

  /// True if the user name or the password is wrong.
  var isWrongPassword: Bool { isCode("E0000004") }

  /// True if the password breaks the directory's rules (E0000080), or was used before (E0000014).
  var isInvalidPassword: Bool { isCode("E0000080") || isCode("E0000014") || isInvalid("password") }

  /// The failure that this refusal means for the operation.
  /// - Parameter operation: the operation, for the message: `create`.
  func failure(of operation: String) -> DirectoryFailure {
    let text = "the directory refuses to \(operation) (\(status)\(code.map { ", " + $0 } ?? ""))"
    if isInvalidPassword { return .invalidPassword(text) }
    if isCode("E0000006") || isCode("E0000011") || isCode("E0000005") || status == 401 || status == 403 {
      return .refused(text + ": check the token and its rights")
    }
    if isUnknown { return .unknownPerson }
    if isInvalid("firstName") || isInvalid("lastName") {
      return .unsupported(text + ": its profile needs names; make firstName and lastName optional there")
    }
    return .fault(text)
  }
}
