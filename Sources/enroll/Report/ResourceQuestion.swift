// The question whether to sign in at the authorization server that a resource names: at the terminal, or in the
// browser for a sign-in that a bridge or `--login` has started.

import EnrollHost
import EnrollPosix
import EnrollRules

extension ResourceSetup {
  /// Asks the user to trust a server that nobody has configured.
  /// - Parameter before: the server of the existing profile. Only the user may replace it with another server.
  func agree(to found: ResourceDiscovery, instead before: String?) throws(Failure) {
    let issuer = Shown.text(found.issuer)
    let asksInBrowser = way.asksInBrowser && way.provider.issuer == nil
    if asksInBrowser, before != nil || !ResourceProfile.names(found.issuer) {
      return try agreeInBrowser(to: found, instead: before)
    }
    if let before, way.provider.issuer == nil, way.yes || !Terminal.hasPerson {
      throw Failure(
        .usage,
        "the resource names the authorization server \(issuer) now; the profile \(session.place.configurationName) is for \(Shown.text(before))",
        advice: "If you trust the new one, name it by --issuer.")
    }
    let errors = Terminal.errors
    if found.metadataURI != nil {
      errors.say("The resource \(Shown.text(resource)) names this authorization server:")
    } else {
      errors.say("The resource \(Shown.text(resource)) names no authorization server; this one is used:")
    }
    errors.say(address: issuer)
    if let before {
      errors.say("The profile \(session.place.configurationName) is for another one: \(Shown.text(before))")
    }
    // A user who named the server by --issuer has agreed to that server. A resource that names another server was
    // refused before.
    guard way.provider.issuer == nil, !way.yes else { return }
    guard Terminal.hasPerson else {
      throw Failure(
        .usage, "there is no terminal to confirm the authorization server \(issuer) at",
        advice: "Name it by --issuer, or accept any that the resource names by --yes.")
    }
    switch Prompt.choice("Sign in there?", default: true, session.waits) {
    case .yes: return
    case .no: throw Failure(.notFinished, Self.refusal)
    case .interrupted: throw Failure(.interrupted, "stopped; nothing has changed")
    }
  }

  private static let refusal = "not confirmed: nothing was registered or sent"
  /// How long the user has for the answer in the browser.
  private static let questionSeconds: Int64 = 600

  /// Asks in the browser. The sign-in then continues in the same tab.
  private func agreeInBrowser(
    to found: ResourceDiscovery, instead before: String?
  ) throws(Failure) {
    let asked = try Failure.wrapping { () throws(EnrollError) in
      try ConsentPage(
        ConsentQuestion(name: found.name, resource: resource, issuer: found.issuer, issuerBefore: before))
    }
    do throws(Failure) {
      guard let opener = Browser().open(asked.address) else {
        throw Failure(
          .usage, "there is no browser to confirm the authorization server \(Shown.text(found.issuer)) in",
          advice: "Name it by --issuer.")
      }
      try opener.requireSuccess(session)
    } catch {
      asked.close()
      throw error
    }
    page = asked
    if way.isForBridge { way.tellOpened(at: session.now) }
    let tick: (String?) -> [String] = { [way, session] _ in
      way.openAgain(asked.address, at: session.now)
      return []
    }
    let agrees = try session.run(tick: tick) { cancellation throws(EnrollError) in
      let clock = SystemClock()
      return try asked.answer(
        until: clock.instant().advanced(bySeconds: Self.questionSeconds), clock: clock,
        cancellation: cancellation)
    }
    guard agrees else { throw Failure(.notFinished, Self.refusal) }
  }

  /// Sends the browser to the authorization server, in the tab in which the user has agreed.
  /// - Returns: false if there is no such tab.
  func goOn(to address: String) -> Bool {
    guard let page else { return false }
    self.page = nil
    page.goOn(to: address)
    return true
  }

  /// Ends the question. If the tab still waits for the sign-in, it shows that the sign-in failed.
  func endQuestion() {
    page?.close()
    page = nil
  }
}
