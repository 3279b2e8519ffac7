// Why a command of this program failed: the library's error with its message, advice, and the exit status.

import EnrollCommands
import EnrollRules
import EnrollJSON

extension EnrollError {
  /// Whether the provider's or the resource's metadata is unusable. In this case the error's field is the member's
  /// name, which has an underscore. Keys of a configuration have no underscores.
  var isAboutMetadata: Bool {
    code == .unsupported && (field?.utf8.contains(UInt8(ascii: "_")) ?? false)
  }
}

/// The failure that ends a command.
struct Failure: Error {
  var ending: CommandStatus
  var message: String
  /// Advice that says what the user can do; nil if there is no advice.
  var advice: Advice?
  /// The library's error, if the failure comes from the library.
  var error: EnrollError?
  /// Whether ``guessing(_:)`` has looked for a hint.
  private var isGuessed = false

  /// An error of this program.
  init(_ ending: CommandStatus, _ message: String, advice: Advice? = nil) {
    self.ending = ending
    self.message = message
    self.advice = advice ?? ending.advice
  }

  /// An error of the library.
  init(_ error: EnrollError, advice: Advice? = nil) {
    ending = CommandStatus(error)
    message = Self.isQuestionOpen(error) ? "a sign-in waits for your confirmation" : error.message
    self.advice = advice ?? Self.advice(error) ?? ending.advice
    self.error = error
  }

  /// Runs `body`, which throws errors of the library.
  static func wrapping<Value>(_ body: () throws(EnrollError) -> Value) throws(Failure) -> Value {
    do throws(EnrollError) { return try body() } catch { throw Failure(error) }
  }

  /// The failure to read a file that the user named. The file may be a pipe, and Ctrl-C ends the read.
  init(reading error: EnrollError, advice: Advice) {
    guard error.code != .cancelled else {
      self.init(.interrupted, "interrupted")
      return
    }
    self.init(error, advice: advice)
    if error.code == .notFound { ending = .usage }
  }

  /// This failure with a second cause.
  func adding(_ cause: String) -> Failure {
    var failure = self
    failure.message += "; \(cause)"
    failure.error = failure.error?.saying(failure.message)
    return failure
  }

  /// This failure with a hint. If the named account or profile does not exist, the hint is a similar name;
  /// otherwise it is the account that `enroll switch` chose, or the user who ran sudo.
  func guessing(_ options: PlaceOptions, _ environment: Environment = .process) -> Failure {
    guard !isGuessed, [.signInNeeded, .usage].contains(ending), let place = try? Context(options) else {
      return self
    }
    var failure = self
    failure.isGuessed = true
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
    } else if let user = environment["SUDO_USER"], !options.isElsewhere(environment),
      ending == .signInNeeded || (try? place.hasConfiguration()) == false
    {
      failure.message += "; under sudo these are another user's files, not those of \(Shown.text(user))"
      failure.advice = "Run the command without sudo, or name the files by --config and --store."
    }
    return failure
  }

  /// Whether the error is about tokens that wait for the user's answer. Such an error needs the program's own advice,
  /// because the library's message names calls of the library.
  static func isQuestionOpen(_ error: EnrollError) -> Bool {
    error.code == .illegalState && error.field == EnrollError.confirmationField
  }

  /// Advice for errors for which the exit status alone is not enough.
  private static func advice(_ error: EnrollError) -> Advice? {
    switch error.code {
    case .illegalState where isQuestionOpen(error): "Run \(.login) to confirm or reject it."
    case .unsupported where error.field == "code_challenge_methods_supported":
      "The provider's administrator has to allow PKCE with S256 (RFC 7636): every sign-in uses it."
    case .storeLocked where isFileMissing(error): CommandStatus.storeUnusable.advice
    case _ where error.field == EnrollError.registrationField: Self.registration
    case .oauth where error.oauthError == "invalid_client":
      "Check the client id. If the provider gave this client a secret, it may be missing, wrong or expired: pass --client-secret-file at the first sign-in, or correct clientSecret in the profile. A client with a private key needs --client-key-file, or clientKeyFile in the profile. If the profile has tokenEndpointAuthMethod, remove it: both ways to send the secret are then tried."
    case _ where error.isAboutMetadata:
      "\(.doctor) shows what the provider announces. Only its operator can change that."
    case .unsupported where error.field == "kind":
      "Run \(.login) to sign in with a browser; only the provider's operator can allow other devices."
    case .tls where error.field == EnrollError.certificateFileField:
      "Add --set caFile=PATH to the sign-in, with the file of the provider's certificate authority."
    case .storeKey where error.field == EnrollError.passphraseField:
      "Pass the passphrase with which the store was made, by --passphrase-fd or at a terminal."
    case .storeKey: "Name the key provider that has the key by --keys, or leave --keys out."
    // RFC 9207: another provider answered (a mix-up attack), or the provider announces `iss` and leaves it out.
    case .issuerMismatch where error.field == "iss":
      "Run \(.sameAgain) to begin again. The answer was not from the provider with which the sign-in began, or this provider breaks RFC 9207: it announces iss and leaves it out. Do not change the issuer."
    case .issuerMismatch: "Use the issuer exactly as the provider spells it."
    default: nil
    }
  }

  /// Whether a file that is necessary to read the store's keys is missing. In that case nothing can be unlocked, and
  /// the message says what to do.
  static func isFileMissing(_ error: EnrollError) -> Bool {
    error.code == .storeLocked && error.field == EnrollError.keyFileField
  }

  /// The advice if the provider has forgotten a client that this program registered.
  static let registration: Advice = "Run \(.registerAgain)."

  /// The output with --json: the library's error as in the manifest, or an object of the same form.
  func json(_ said: Said) -> JSON {
    .object([
      ("error", errorJSON), ("advice", advice.map { .string($0.text(said)) }),
      ("exitStatus", .integer(Int64(ending.rawValue))),
    ])
  }

  var errorJSON: JSON { error?.json ?? .object([("message", .string(message))]) }
}
