// A hint for a sign-in whose redirect does not arrive: the provider may show an error page, and this program does not
// learn of it. After some time the user is asked to look, and gets the values to compare.

import EnrollSteps
import EnrollRules

struct RedirectHint {
  static let usualSeconds: Int64 = 30

  /// The advice for a client that this program registered.
  static let advice: Advice = "Stop, and run \(.registerAgain)."
  /// The advice for a URL that was opened too late.
  static let tooLate: Advice = "Stop, and run \(.sameAgain)."

  private let clientID: String
  /// The command that registers the client again; nil for a client that the user registered.
  private let registration: String?
  private let redirectURI: String
  /// How long the provider keeps the request, in seconds; nil if that is as long as the sign-in waits.
  private let secondsToOpen: Int64?
  private let again: String
  /// Why the request could not be pushed before the browser opened; nil if the request was pushed, or did not have to
  /// be pushed.
  private let refusedPush: String?
  private let due: Instant
  private var isTold = false

  /// Makes the hint for one sign-in.
  /// - Parameters:
  ///   - redirectURI: the redirect URI that was sent, with this attempt's port.
  ///   - secondsToOpen: for how many seconds the provider keeps the request; nil: for as long as the sign-in waits.
  ///   - again: the command that begins again.
  ///   - registration: the command that registers the client again, if this program registered it.
  ///   - refusedPush: why the request could not be pushed, if it goes through the browser for that reason.
  ///   - seconds: the time after which the hint is shown.
  init(
    clientID: String, redirectURI: String, registration: String? = nil, secondsToOpen: Int64? = nil,
    again: String = "", refusedPush: String? = nil, since begun: Instant, seconds: Int64 = usualSeconds
  ) {
    self.secondsToOpen = secondsToOpen
    self.again = again
    self.refusedPush = refusedPush
    self.registration = registration
    self.clientID = clientID
    self.redirectURI = redirectURI
    due = begun.advanced(bySeconds: seconds)
  }

  /// Why the last request could not be pushed; nil if the request was pushed, or did not have to be pushed.
  static func refusedPush(in facts: ClientFacts) -> String? {
    facts.errors.last { $0.field == EnrollError.pushField }?.message
  }

  private var hasPort: Bool {
    (try? StrictURL(redirectURI)).map { $0.kind == .loopbackHTTP && $0.port != nil } ?? false
  }

  /// The lines of the hint at the first call after it is due; empty at every earlier and later call.
  mutating func lines(at now: Instant) -> [String] {
    guard !isTold, now >= due else { return [] }
    isTold = true
    var before = refusedPush.map { ["Before the browser opened: \(Shown.text($0))"] } ?? []
    if let secondsToOpen {
      before.append(
        "The provider kept the request for \(secondsToOpen) seconds. If the address was opened later: \(again)"
      )
    }
    if let registration {
      return before + [
        "Does the browser show an error page? Then the provider may have forgotten the client that was registered for you.",
        registration,
      ]
    }
    return before + [
      "Does the browser show an error page? Then compare with what the provider has registered:",
      "client id: \(Shown.text(clientID))", "redirect: \(Shown.text(redirectURI))",
    ]
      + (hasPort
        ? ["Some providers compare the port, too: register one, and name it by --redirect-uri."] : [])
  }
}
