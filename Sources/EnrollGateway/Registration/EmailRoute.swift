// The addresses for people who come by e-mail. Each form has one: GET shows it and changes nothing, whoever opens it (mail scanners
// open every link); POST does what it says. Tokens are one segment of a path, of the exact form that the gateway makes.

import EnrollCore
import EnrollHTTP

enum EmailRoute: Equatable {
  case register
  case registerSent
  case welcome(token: String)
  case signIn
  case signInSent
  case signInLink(token: String)
  case forgotten
  case forgottenSent
  case reset(token: String)
  case changePassword

  static let fixed: [(path: String, route: EmailRoute)] = [
    ("/register", .register), ("/register/email-sent", .registerSent), ("/signin", .signIn),
    ("/signin/email-sent", .signInSent), ("/password/forgotten", .forgotten),
    ("/password/forgotten/email-sent", .forgottenSent), ("/account/password", .changePassword),
  ]

  static let welcomePrefix = "/welcome/"
  static let signInPrefix = "/signin/"
  static let resetPrefix = "/password/reset/"

  /// nil for an address that is not one of these.
  init?(path: String) {
    if let fixed = Self.fixed.first(where: { ASCII.equals($0.path, path) }) {
      self = fixed.route
    } else if let token = Self.token(in: path, after: Self.welcomePrefix) {
      self = .welcome(token: token)
    } else if let token = Self.token(in: path, after: Self.signInPrefix) {
      self = .signInLink(token: token)
    } else if let token = Self.token(in: path, after: Self.resetPrefix) {
      self = .reset(token: token)
    } else {
      return nil
    }
  }

  private static func token(in path: String, after prefix: String) -> String? {
    guard path.utf8.starts(with: prefix.utf8) else { return nil }
    let rest = String(Substring(path.utf8.dropFirst(prefix.utf8.count)))
    return (1...256).contains(rest.utf8.count) && !rest.utf8.contains(0x2F) ? rest : nil
  }

  func takes(_ method: WebRequest.Method) -> Bool {
    switch self {
    case .registerSent, .signInSent, .forgottenSent: method == .get
    case .register, .welcome, .signIn, .signInLink, .forgotten, .reset, .changePassword: true
    }
  }

  /// What an answer may wait for: forms that are sent ask a directory, or hash a password.
  func lane(_ method: WebRequest.Method) -> Lane {
    guard method == .get else { return .provider }
    switch self {
    case .register, .registerSent, .signIn, .signInSent, .forgotten, .forgottenSent: return .here
    case .welcome, .signInLink, .reset, .changePassword: return .database
    }
  }
}
