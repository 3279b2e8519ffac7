// A refusal in Okta's dialect: a status, `errorCode` and `errorCauses`. The words stay out of the log, as they may repeat what was sent;
// of the causes, the gateway reads which attribute each begins with.

import EnrollCore
import EnrollJSON
import EnrollHTTP

struct OktaRefusal {
  let status: Int
  /// `E` and seven digits; nil for every other text.
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

  /// API validation failed, and a cause is about this attribute.
  private func isInvalid(_ attribute: String) -> Bool {
    isCode("E0000001") && causes.contains { $0.utf8.starts(with: "\(attribute):".utf8) }
  }

  /// Another user has the login.
  var isTaken: Bool {
    isCode("E0000001")
      && causes.contains { $0.utf8.starts(with: "login: An object with this field already exists".utf8) }
  }

  /// No such user.
  var isUnknown: Bool { isCode("E0000007") || status == 404 }

  /// The user is active already.
  var isActive: Bool { isCode("E0000016") }

  /// User name or password is wrong.
  var isWrongPassword: Bool { isCode("E0000004") }

  /// The password breaks the directory's rules (E0000080), or was used before (E0000014).
  var isInvalidPassword: Bool { isCode("E0000080") || isCode("E0000014") || isInvalid("password") }

  /// - Parameter wish: of the request: `create`.
  func failure(of wish: String) -> DirectoryFailure {
    let told = "the directory refuses to \(wish) (\(status)\(code.map { ", " + $0 } ?? ""))"
    if isInvalidPassword { return .invalidPassword(told) }
    if isCode("E0000006") || isCode("E0000011") || isCode("E0000005") || status == 401 || status == 403 {
      return .refused(told + ": check the token and its rights")
    }
    if isUnknown { return .unknownPerson }
    if isInvalid("firstName") || isInvalid("lastName") {
      return .unsupported(told + ": its profile needs names; make firstName and lastName optional there")
    }
    return .fault(told)
  }
}
