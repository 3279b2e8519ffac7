// Why a command of this program failed: the library's error in its own words, what to do next, and the exit status.

import EnrollCommands
import EnrollCore
import EnrollJSON

/// The failure that ends a command.
struct Failure: Error {
  var ending: CommandStatus
  var message: String
  /// Advice that names a command.
  var advice: Advice?
  /// The library's error, where it is one.
  var error: EnrollError?

  /// One of this program's own.
  init(_ ending: CommandStatus, _ message: String, advice: Advice? = nil) {
    self.ending = ending
    self.message = message
    self.advice = advice ?? ending.advice
  }

  /// One of the library's.
  init(_ error: EnrollError, advice: Advice? = nil) {
    ending = CommandStatus(error.code)
    message = error.message
    self.advice = advice ?? Self.advice(error) ?? ending.advice
    self.error = error
  }

  /// Of a file that the user named; it may be a pipe, which Ctrl-C ends.
  init(reading error: EnrollError, advice: Advice) {
    guard error.code != .cancelled else {
      self.init(.interrupted, "interrupted")
      return
    }
    self.init(error, advice: advice)
    if error.code == .notFound { ending = .usage }
  }

  /// The same, with the account or the profile that may have been meant, where the one that was named is not there; or with
  /// the one that was chosen.
  func guessing(_ options: PlaceOptions) -> Failure {
    guard [.signInNeeded, .usage].contains(ending), let place = try? Context(options) else { return self }
    var failure = self
    if (try? place.hasConfiguration()) == false, let profile = options.profile,
      let meant = EditDistance.nearest(to: profile, among: Candidates.allProfiles)
    {
      failure.message += "; there is a profile \(meant)"
    } else if ending == .signInNeeded, let account = options.account,
      let meant = EditDistance.nearest(to: account, among: Candidates.allAccounts(of: place.store))
    {
      failure.message += "; there is an account \(meant)"
    } else if ending == .signInNeeded, place.isChosen {
      failure.message += "; the account \(place.account) is the one that enroll switch chose"
    }
    return failure
  }

  /// Where the exit status alone does not say what helps.
  private static func advice(_ error: EnrollError) -> Advice? {
    switch error.code {
    case _ where error.field == EnrollError.registrationField: Self.registration
    case .oauth where error.oauthError == "invalid_client":
      "Check the client id. If the provider gave this client a secret, put it into the configuration: --client-secret-file at the first sign-in, clientSecret in a profile."
    case .storeKey: "Name the key provider that has the key by --keys, or leave --keys out."
    case .issuerMismatch: "Use the issuer exactly as the provider spells it."
    default: nil
    }
  }

  /// The provider has forgotten a client that this program registered.
  static let registration: Advice = "Run \(.registerAgain)."

  /// With --json: the library's error as the manifest describes it, or its likeness.
  func json(_ said: Said) -> JSON {
    .object([
      ("error", errorJSON), ("advice", advice.map { .string($0.text(said)) }),
      ("exitStatus", .integer(Int64(ending.rawValue))),
    ])
  }

  var errorJSON: JSON { error?.json ?? .object([("message", .string(message))]) }
}
