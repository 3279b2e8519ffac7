// Waits for a user who is in the browser or at another device. During the wait, this code shows hints, reads a redirect
// URL that the user pastes, and handles Ctrl-C.

import EnrollCommands
import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON

extension SignIn {
  /// Shows the user how to go on, and waits until the sign-in has ended.
  /// - Parameter before: the account's data as they were before the sign-in.
  func wait(
    _ client: Client, _ begun: Transaction, _ before: AccountSnapshot
  ) throws(Failure) -> RegistrationState {
    if session.isJSON { Output.json(begun.json) }
    var opener: Opener?
    switch begun.action {
    case .showDeviceCode(let code): ShownDeviceCode(code).show()
    case .openURL(let url), .openOtherApp(let url):
      if !(resource?.goOn(to: url) ?? false) { opener = try openBrowser(url, begun, client) }
      if way.isForBridge { try requireBrowser(opener, client, begun) }
    case .enterCode, .awaitLink: opener = try openBrowser("", begun, client)
    }
    var redirectHint = kind == .device ? nil : try redirectHint(begun, client)
    let listens = kind != .device && (opener == nil || way.noBrowser) && Terminal.hasPerson
    if listens { errors.say("Or paste the address at which the browser ended here, and press Enter.") }
    do throws(Failure) {
      return try outcome(
        client, begun, within: 86_400,
        saying: kind == .device ? "Waiting for the other device" : "Waiting for the browser", listens: listens
      ) { typed in
        if case .openURL(let url) = begun.action, secondsToOpen(begun) != 0 {
          way.openAgain(url, at: session.now)
        }
        if let status = opener?.failure() {
          return ["\(opener?.name ?? "") ended with status \(status): open the address yourself."]
        }
        if let refusal = typed.flatMap({ resume($0, client, begun) }) { return [refusal] }
        return session.reportedLines() ?? redirectHint?.lines(at: session.instant) ?? []
      }
    } catch {
      guard session.waits.isInterrupted else { throw error }
      // Cancelling closes the listener, so that the next attempt can use its port.
      _ = try session.cancel(client, begun.transactionID)
      try awaitExchange(client, begun)
      throw interrupted(
        try stateNow(client), try session.read(client),
        hasSignedIn: try hasSignedIn(client, since: begun, before))
    }
  }

  /// Waits until the transaction has an outcome.
  private func outcome(
    _ client: Client, _ begun: Transaction, within seconds: Int64, saying words: String? = nil,
    listens: Bool = false, tick: ((_ typed: String?) -> [String])? = nil
  ) throws(Failure) -> RegistrationState {
    try session.run(saying: words, listens: listens, tick: tick) { cancellation throws(EnrollError) in
      try client.awaitTransaction(
        begun.transactionID, until: client.deadline(afterSeconds: seconds), cancellation: cancellation)
    }
  }

  /// If the code was sent, waits for the response, for as long as a request may take, so that the tokens get stored.
  /// This is necessary, because a code cannot be sent twice.
  private func awaitExchange(_ client: Client, _ begun: Transaction) throws(Failure) {
    guard case .authenticating(_, .exchanging) = try stateNow(client) else { return }
    errors.say("The provider is about to answer; waiting for it.")
    do throws(Failure) {
      _ = try outcome(client, begun, within: 35)
    } catch {
      guard error.error?.code != .deadlineExceeded else {
        throw Failure(.interrupted, "stopped; the provider has not answered, and the sign-in is lost")
      }
      throw Failure(
        .interrupted, "stopped; the sign-in failed: \(error.message)",
        advice: "Run \(.sameAgain) to try again.")
    }
  }

  /// How long the URL can be opened, in seconds; nil if it can be opened for as long as the sign-in waits.
  private func secondsToOpen(_ begun: Transaction) -> Int64? {
    begun.urlExpiresAt.map { max(0, $0.seconds - session.now) }
  }

  private func redirectHint(_ begun: Transaction, _ client: Client) throws(Failure) -> RedirectHint {
    let configuration = client.configuration
    let facts = try session.facts(client)
    return RedirectHint(
      clientID: configuration.clientID.text, redirectURI: begun.redirectURI ?? configuration.redirectURI,
      registration: facts.hasRegisteredClient ? RedirectHint.advice.text(session.said) : nil,
      secondsToOpen: secondsToOpen(begun), again: RedirectHint.tooLate.text(session.said),
      refusedPush: RedirectHint.refusedPush(in: facts), since: session.instant,
      seconds: way.redirectHintSeconds)
  }

  /// The state in the store, which another attempt for this account may have changed.
  func stateNow(_ client: Client) throws(Failure) -> RegistrationState {
    try session.state(client, within: 5)
  }

  /// Whether a user has signed in since the transaction began. This cannot be seen from the claims, because a renewal
  /// changes some of them, too.
  private func hasSignedIn(
    _ client: Client, since begun: Transaction, _ before: AccountSnapshot
  ) throws(Failure) -> Bool {
    do throws(Failure) {
      return try session.run { _ throws(EnrollError) in try client.hasSignedIn(since: begun.transactionID) }
    } catch {
      // The transaction is not in the store any more, because a sign-out or newer transactions removed it.
      return try session.read(client).profile?["sub"] != before.profile?["sub"]
    }
  }

  /// The failure to report after Ctrl-C ended the wait.
  private func interrupted(
    _ state: RegistrationState, _ now: AccountSnapshot, hasSignedIn: Bool
  ) -> Failure {
    switch state {
    case .awaitingConfirmation(_, let profile):
      Failure(
        .interrupted,
        "stopped; but \(Shown.person(profile)) has signed in and waits for your confirmation",
        advice: "Run \(.login) to confirm.")
    case .active where hasSignedIn:
      Failure(
        .interrupted, "stopped; but \(Shown.person(now.profile)) has signed in",
        advice: "\(.token) prints the token, \(.loginAgain) begins anew.")
    case .starting, .unregistered, .authenticating, .active, .renewalFailed, .registrationFailed:
      Failure(.interrupted, "stopped; nothing has changed", advice: "Run \(.sameAgain) to try again.")
    }
  }

  /// Completes the transaction with a URL that the user pasted, because their browser could not reach this machine.
  /// This function runs inside a `tick` of the wait, so it must not draw anything.
  /// - Returns: the message that the URL is not the redirect; nil if it may be the redirect.
  private func resume(_ typed: String, _ client: Client, _ begun: Transaction) -> String? {
    let address = typed.filter { !$0.isWhitespace }
    guard !address.isEmpty else { return nil }
    do throws(EnrollError) {
      _ = try client.resume(
        address, transactionID: begun.transactionID, until: client.usualDeadline, cancellation: nil)
      return nil
    } catch {
      // An error that ends the transaction is reported by the call that waits for the transaction.
      guard [.unsolicited, .redirectMalformed, .redirectMismatch].contains(error.code) else { return nil }
      return "This address is not the redirect: \(Shown.message(error.message))"
    }
  }

  /// Ends a sign-in if no browser could be opened, because nobody would see the URL.
  private func requireBrowser(_ opener: Opener?, _ client: Client, _ begun: Transaction) throws(Failure) {
    do throws(Failure) { try opener?.requireSuccess(session) } catch {
      _ = try session.cancel(client, begun.transactionID)
      throw error
    }
  }

  private func openBrowser(
    _ address: String, _ begun: Transaction, _ client: Client
  ) throws(Failure) -> Opener? {
    let browser = Browser()
    let opener = way.noBrowser ? nil : browser.open(address)
    if let opener {
      errors.say("Opening the browser (\(opener.name)). If it does not open, open this address yourself:")
    } else {
      if !way.noBrowser, let absence = browser.absence {
        errors.say("! No browser: \(absence).", in: .warning)
      }
      errors.say("Open this address in a browser:")
    }
    errors.say(address: address)
    if opener == nil, let seconds = secondsToOpen(begun) {
      errors.say("Open it within \(seconds) seconds: the provider keeps the request no longer.")
    }
    if opener == nil { try hint(redirectURI: begun.redirectURI ?? "", client) }
    return opener
  }

  /// A hint for a user whose browser is on another machine: the redirect leads to this machine.
  private func hint(redirectURI: String, _ client: Client) throws(Failure) {
    let port = redirectURI.split(separator: "/").dropFirst().first?.split(separator: ":").last ?? ""
    if Environment.process["SSH_CONNECTION"] != nil, Int(port) != nil {
      errors.say(
        "It leads back to this machine. First run there: ssh -L \(port):127.0.0.1:\(port) to here.")
    }
    if kind != .register, try session.facts(client).hasDeviceGrant {
      let advice: Advice = "Without a browser on this machine: \(.loginByDevice)."
      errors.say(advice.text(session.said))
    }
  }
}
