// Why a request fails: the failure that the user sees, its status, the line in the log, and the error code for a program or an
// app.

import EnrollRules
import EnrollGatewayPages
import EnrollHTTP

/// An error that ends the processing of a request.
enum Interruption: Error {
  /// A failure that the user sees.
  case failure(EnrollGatewayPages.Failure)
  case store(StoreFailure)
  /// An internal error of the gateway, such as a lack of random bytes or memory.
  case own(EnrollError)
  /// A rate limit is exceeded; a request that comes after this many seconds is answered.
  case limited(retryAfterSeconds: Int64)

  /// The failure that the user sees.
  var failure: EnrollGatewayPages.Failure {
    switch self {
    case .failure(let failure): failure
    case .store(.unknownOutcome): .outcomeUnknown
    case .store: .unavailable
    case .own: .internalError
    case .limited: .tooManyRequests
    }
  }

  /// Headers of the answer.
  var headers: [HTTPHeader] {
    guard case .limited(let seconds) = self else { return [] }
    // RFC 9110 §10.2.3.
    return [HTTPHeader("Retry-After", String(seconds))]
  }

  /// The line for the log; nil for failures that are not the gateway's fault.
  var line: String? {
    switch self {
    case .failure, .limited: nil
    case .store(let failure): "store: \(failure.message)"
    case .own(let error): "\(error.code.name): \(error.message)"
    }
  }
}

extension EnrollGatewayPages.Failure {
  var status: Int {
    switch self {
    case .notFound, .unknownProvider: 404
    case .methodNotAllowed: 405
    case .requestTooLarge: 413
    case .tooManyRequests: 429
    case .formExpired, .notAllowed, .accountLocked, .otherIdentity, .stepMissing: 403
    case .providerUnavailable, .unavailable, .outcomeUnknown: 503
    case .internalError: 500
    case .linkInvalid: 404
    case .linkExpired, .linkUsed: 410
    case .cancelled, .providerRefused, .providerInvalid, .attemptMissing, .attemptExpired, .attemptUsed,
      .unknownApp, .invalidRequest:
      400
    }
  }

  /// The error code for an app or a program (RFC 6749 §4.1.2.1).
  var oauthError: String {
    switch self {
    case .cancelled, .notAllowed, .accountLocked, .otherIdentity, .stepMissing: "access_denied"
    case .providerUnavailable, .unavailable, .outcomeUnknown, .tooManyRequests: "temporarily_unavailable"
    case .providerRefused, .providerInvalid, .internalError: "server_error"
    case .notFound, .methodNotAllowed, .requestTooLarge, .unknownProvider, .unknownApp, .invalidRequest,
      .formExpired, .attemptMissing, .attemptExpired, .attemptUsed, .linkInvalid, .linkExpired, .linkUsed:
      "invalid_request"
    }
  }

  /// The failure in words, for the developer of the app.
  func words(provider label: String) -> String {
    switch self {
    case .cancelled: "the user cancelled the sign-in at \(label)"
    case .notAllowed: "the user may not sign in here"
    case .accountLocked: "the user's account is locked"
    case .stepMissing: "the user's account needs a further step to sign in"
    case .otherIdentity: "the user signed in with another account"
    case .providerUnavailable: "\(label) cannot be reached now"
    case .providerRefused: "\(label) refused the sign-in"
    case .providerInvalid: "the answer of \(label) did not pass a check"
    case .unavailable: "the gateway's store cannot be reached now"
    case .outcomeUnknown: "the gateway's store did not say whether it saved the sign-in"
    case .tooManyRequests: "too many requests"
    case .internalError: "a fault of the gateway"
    case .notFound, .methodNotAllowed, .requestTooLarge, .unknownProvider, .unknownApp, .invalidRequest,
      .formExpired, .attemptMissing, .attemptExpired, .attemptUsed, .linkInvalid, .linkExpired, .linkUsed:
      "the request is not one that the gateway takes: \(rawValue)"
    }
  }

  /// The interruption for a failed sign-in at a provider.
  init(_ error: EnrollError) {
    switch error.code {
    case .accessDenied: self = .cancelled
    case .network, .timeout, .server, .busy, .keysUnavailable, .tls: self = .providerUnavailable
    case .idTokenInvalid, .issuerMismatch, .responseInvalid, .profileMismatch: self = .providerInvalid
    // The answer belongs to no sign-in of this browser.
    case .unsolicited, .redirectMismatch, .redirectMalformed, .alreadySettled: self = .attemptMissing
    case .transactionExpired: self = .attemptExpired
    case .invalidArgument: self = .invalidRequest
    case .unsupported where error.isAboutPrompt: self = .invalidRequest
    default:
      func isCalled(_ name: String) -> Bool { error.oauthError.map { ASCII.equals($0, name) } ?? false }
      // Apple sends this code instead of `access_denied`.
      self =
        isCalled("user_cancelled_authorize")
        ? .cancelled : isCalled("temporarily_unavailable") ? .providerUnavailable : .providerRefused
    }
  }
}

extension EnrollError {
  /// Whether the `prompt` that an app or a URL asked for is at fault.
  fileprivate var isAboutPrompt: Bool { field.map { ASCII.equals($0, "prompt") } ?? false }
}

/// What a redirect tells an app about a failed sign-in (RFC 6749 §4.1.2.1; OpenID Connect Core §3.1.2.6).
struct AppRefusal: Equatable {
  let error: String
  let description: String

  /// What the app is told about this failure.
  /// - Parameter cause: the error behind the failure, if there is such an error.
  init(_ failure: EnrollGatewayPages.Failure, cause: EnrollError?, provider label: String) {
    switch cause?.code {
    case .unsupported where cause?.isAboutPrompt ?? false:
      self.init(
        "invalid_request", "\(label) does not support this prompt: its prompt_values_supported lack it")
    // The app asked for a sign-in without a page, and can begin another sign-in with pages.
    case .loginRequired: self.init("login_required", "the user is not signed in at \(label)")
    case .interactionRequired: self.init("interaction_required", "\(label) needs to show the user a page")
    case .consentRequired: self.init("consent_required", "\(label) needs the user's consent")
    default: self.init(failure.oauthError, failure.words(provider: label))
    }
  }

  private init(_ error: String, _ description: String) {
    self.error = error
    self.description = description
  }
}

extension WebRequest {
  /// The parameters of the query.
  /// - Throws: `.failure(.invalidRequest)` if the parameters are ambiguous or malformed.
  func parameters() throws(Interruption) -> Parameters {
    guard let parameters = Parameters(encoded: query) else { throw .failure(.invalidRequest) }
    return parameters
  }
}
