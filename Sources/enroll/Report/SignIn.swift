// A sign-in as a person sees it: the browser opens, or a code is shown; something turns while they are away; they are asked
// whether it is them. Ctrl-C gives the attempt up, and whoever was signed in before still is.

import EnrollCore
import EnrollJSON

struct SignIn {
  let way: SignInArguments
  /// The provider of the command line. Kept, because its secret may come out of a pipe.
  private let setup: ProviderSetup?
  /// A configuration that was made for the resource of the command line, and is not saved yet.
  private let made: JSON?
  private let kind: Kind
  let session: CommandSession
  let errors = Terminal.errors

  /// By which way, as the manifest calls it.
  enum Kind: String { case signIn, register, device }

  /// - Throws: as ``SignInArguments/setup()`` and ``ResourceSetup/configuration()``.
  init(_ way: SignInArguments, _ kind: Kind, _ session: CommandSession) throws(Failure) {
    self.way = way
    setup = try way.setup()
    made = try way.provider.resource.flatMap { (resource) throws(Failure) in
      try ResourceSetup(way, resource, session).configuration()
    }
    self.kind = kind
    self.session = session
  }

  func run() throws(Failure) -> CommandStatus {
    let saves = try prepareProfile()
    if saves { try Folders.requireWritable(Folders.parent(of: session.place.configurationPath)) }
    var configuration = try self.configuration()
    let client = try session.open(configuration, makesStore: true)
    let state = try session.call(
      "registration.state", [("client", client), ("timeout", .integer(15))], saying: "Looking at the account"
    )
    switch state["state"]?["state"]?.string {
    case "active" where !way.again:
      if saves { try save(configuration) }
      return try stay(client, state["state"])
    case "starting" where !way.again: try refuseBesideRenewal(client)
    case _ where !way.yes && !Terminal.hasPerson:
      throw Failure(
        .usage, "there is no terminal to confirm the user at",
        advice: "--yes confirms the profile without asking.")
    case "awaitingConfirmation" where !way.again:
      errors.say("An earlier sign-in waits for your confirmation.")
      return try confirm(client, state["state"])
    default: break
    }
    let before = try session.call("account.read", [("client", client)])
    let (begun, arrived): (JSON, JSON)
    do throws(Failure) {
      (begun, arrived) = try attempt(client, before, &configuration)
    } catch {
      LastAttempt(
        at: session.now, configurationPath: session.place.configurationPath,
        configuration: saves ? configuration : nil, options: way.provider.words, message: error.message
      ).save()
      throw error
    }
    LastAttempt.forget(about: session.place.configurationPath)
    // Not before: a slip of the finger is not to be there the next time.
    if saves { try save(configuration) }
    guard arrived["state"]?["state"]?.string == "awaitingConfirmation" else {
      return try welcome(client, arrived["state"])
    }
    return try confirm(client, arrived["state"], of: begun["transaction"])
  }

  /// The provider has not answered to the renewal of a session that may well go on.
  private func refuseBesideRenewal(_ client: JSON) throws(Failure) {
    let kept = try session.call("account.read", [("client", client)])
    guard kept["expiresAt"] != nil else { return }
    throw Failure(
      .unreachable,
      "\(Shown.person(kept["profile"])) is signed in, and the provider has not answered the token's renewal",
      advice: "Try again later; \(.loginAgain) signs in again.")
  }

  // MARK: The profile

  /// - Returns: whether what was said is new, and is to be saved.
  private func prepareProfile() throws(Failure) -> Bool {
    guard let setup else { return made != nil }
    guard try session.place.hasConfiguration() else { return true }
    let present = try checked(try session.configuration(), isGiven: false)
    guard setup.isServed(by: present) else {
      throw Failure(
        .usage,
        "the profile \(session.place.configurationName) is for \(present.issuer) and client \(present.clientID)",
        advice: "Choose another name by --profile, or remove \(session.place.configurationPath).")
    }
    let given = try checked(setup.configuration, isGiven: true)
    guard given.clientSecret == nil || given.clientSecret == present.clientSecret else {
      throw Failure(
        .usage,
        "the profile \(session.place.configurationName) has another client secret than the file, or none",
        advice:
          "Correct clientSecret in \(session.place.configurationPath), or choose another name by --profile.")
    }
    return false
  }

  private func configuration() throws(Failure) -> JSON {
    let isGiven = setup == nil ? made != nil : try !session.place.hasConfiguration()
    let json = isGiven ? made ?? setup?.configuration ?? .null : try session.configuration()
    let configuration = try checked(json, isGiven: isGiven)
    guard kind == .device || configuration.usesLoopbackRedirect || Terminal.hasPerson else {
      throw Failure(
        .usage, "the redirect \(configuration.redirectURI) leads back to an app, not to this program",
        advice: ProviderSetup.redirectAdvice(isGiven: isGiven))
    }
    return json
  }

  /// - Parameter isGiven: it was said on the command line.
  private func checked(_ json: JSON, isGiven: Bool) throws(Failure) -> Configuration {
    do throws(EnrollError) {
      return try Configuration(json: json)
    } catch {
      throw Failure(error, advice: isGiven ? ProviderSetup.advice(error, of: setup) : session.place.advice)
    }
  }

  private func save(_ configuration: JSON) throws(Failure) {
    let path = session.place.configurationPath
    try Folders.make(Folders.parent(of: path))
    try Folders.write(ProviderSetup.page(configuration), to: path)
    becomeCurrent()
    errors.say("Saved the provider as the profile \(session.place.configurationName): \(path)")
  }

  /// What `enroll switch` chose ends: the commands that come next are about this provider.
  func becomeCurrent() {
    if session.said.place.isEmpty, !way.provider.words.isEmpty { CurrentChoice.forget() }
  }

  // MARK: The attempt

  /// Once more without `offline_access` where the provider refuses the scopes that nobody chose.
  private func attempt(
    _ client: JSON, _ before: JSON, _ configuration: inout JSON
  ) throws(Failure) -> (begun: JSON, arrived: JSON) {
    do throws(Failure) {
      let begun = try begin(client, way.scopes)
      return (begun, try wait(client, begun, before))
    } catch {
      let refusals = ["invalid_scope", "not_allowed"]
      guard let refusal = error.error?.oauthError, refusals.contains(refusal), way.scopes.isEmpty,
        let scopes = ProviderSetup.withoutOfflineAccess(&configuration)
      else { throw error }
      errors.say("The provider refuses offline access; asking again without it.", in: .warning)
      let begun = try begin(client, scopes)
      return (begun, try wait(client, begun, before))
    }
  }

  private func begin(_ client: JSON, _ scopes: [String]) throws(Failure) -> JSON {
    let options: [(String, JSON?)] = [
      ("loginHint", way.loginHint.map { .string($0) }), ("prompt", way.prompt.map { .string($0) }),
      ("connection", way.connection.map { .string($0) }),
    ]
    let isEmpty = options.allSatisfy { $0.1 == nil }
    return try session.beginSignIn(
      client,
      [
        ("kind", .string(kind.rawValue)), ("options", isEmpty ? nil : .object(options)),
        ("scopes", scopes.isEmpty ? nil : .array(scopes.map { .string($0) })),
      ])
  }

  /// - Parameter before: what was kept of the account.
  private func wait(_ client: JSON, _ begun: JSON, _ before: JSON) throws(Failure) -> JSON {
    if session.isJSON { Output.json(begun) }
    let action = begun["action"]
    var opener: Opener?
    if action?["type"]?.string == "showDeviceCode" {
      DeviceCode(action).show()
    } else {
      opener = try openBrowser(begun, client)
    }
    var longWait = kind == .device ? nil : try longWait(begun, client)
    let listens = kind != .device && (opener == nil || way.noBrowser) && Terminal.hasPerson
    if listens { errors.say("Or paste the address at which the browser ended here, and press Enter.") }
    do throws(Failure) {
      return try session.call(
        "registration.awaitOutcome",
        [("client", client), ("transaction", begun["transaction"]), ("timeout", .integer(86_400))],
        saying: kind == .device ? "Waiting for the other device" : "Waiting for the browser", listens: listens
      ) { typed in
        if let status = opener?.failure() {
          return ["\(opener?.name ?? "") ended with status \(status): open the address yourself."]
        }
        if let refusal = typed.flatMap({ take($0, client, begun) }) { return [refusal] }
        return session.reportedLines() ?? longWait?.lines(at: session.instant) ?? []
      }
    } catch {
      guard session.waits.isInterrupted else { throw error }
      // In order: the listener closes, and the next attempt begins afresh.
      _ = try session.call(
        "registration.cancel", [("client", client), ("transaction", begun["transaction"])])
      try followCode(client, begun)
      throw interrupted(
        try stateNow(client), from: before, to: try session.call("account.read", [("client", client)]))
    }
  }

  /// A code that was sent cannot be sent again: its answer is waited for, as long as a request may take, and stored.
  private func followCode(_ client: JSON, _ begun: JSON) throws(Failure) {
    guard try stateNow(client)?["step"]?.string == "exchanging" else { return }
    errors.say("The provider is about to answer; waiting for it.")
    do throws(Failure) {
      _ = try session.call(
        "registration.awaitOutcome",
        [("client", client), ("transaction", begun["transaction"]), ("timeout", .integer(35))])
    } catch {
      guard error.error?.code != .deadlineExceeded else {
        throw Failure(.interrupted, "stopped; the provider has not answered, and the sign-in is lost")
      }
      throw Failure(
        .interrupted, "stopped; the sign-in failed: \(error.message)",
        advice: "Run \(.sameAgain) to try again.")
    }
  }

  private func longWait(_ begun: JSON, _ client: JSON) throws(Failure) -> LongWait {
    let configuration = try checked(try self.configuration(), isGiven: false)
    let known = try session.call("diagnostics.export", [("client", client)])["diagnostics"]
    return LongWait(
      clientID: configuration.clientID.text,
      redirectURI: begun["redirectUri"]?.string ?? configuration.redirectURI,
      registration: known?["hasRegisteredClient"] == .bool(true) ? LongWait.advice.text(session.said) : nil,
      since: session.instant, seconds: way.longWaitSeconds)
  }

  /// As the store says: another attempt of this account may have ended meanwhile.
  func stateNow(_ client: JSON) throws(Failure) -> JSON? {
    try session.call("registration.state", [("client", client), ("timeout", .integer(5))])["state"]
  }

  /// The failure to report after Ctrl-C ended the wait.
  private func interrupted(_ state: JSON?, from before: JSON, to now: JSON) -> Failure {
    switch state?["state"]?.string {
    case "awaitingConfirmation":
      return Failure(
        .interrupted,
        "stopped; but \(Shown.person(state?["profile"])) has signed in and waits for your confirmation",
        advice: "Run \(.login) to confirm.")
    case "active" where now["profile"] != before["profile"]:
      return Failure(
        .interrupted, "stopped; but \(Shown.person(now["profile"])) has signed in",
        advice: "\(.token) prints the token, \(.loginAgain) begins anew.")
    default:
      return Failure(.interrupted, "stopped; nothing has changed", advice: "Run \(.sameAgain) to try again.")
    }
  }

  /// Takes a pasted redirect, from a browser that could not reach this machine.
  /// - Returns: why it is not the one.
  private func take(_ typed: String, _ client: JSON, _ begun: JSON) -> String? {
    let address = typed.filter { !$0.isWhitespace }
    guard !address.isEmpty else { return nil }
    let refused = session.callInPassing(
      "registration.resume",
      [("client", client), ("url", .string(address)), ("transaction", begun["transaction"])])
    // A refusal that settles the transaction is told by whoever awaits it.
    guard let refused, [.unsolicited, .redirectMalformed, .redirectMismatch].contains(refused.code) else {
      return nil
    }
    return "This address is not the redirect: \(Shown.text(refused.message))"
  }

  private func openBrowser(_ begun: JSON, _ client: JSON) throws(Failure) -> Opener? {
    let address = begun["action"]?["url"]?.string ?? ""
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
    if opener == nil { try hint(redirectURI: begun["redirectUri"]?.string ?? "", client) }
    return opener
  }

  /// The redirect comes back to this machine: what to do where the browser is on another.
  private func hint(redirectURI: String, _ client: JSON) throws(Failure) {
    let port = redirectURI.split(separator: "/").dropFirst().first?.split(separator: ":").last ?? ""
    if Environment.process["SSH_CONNECTION"] != nil, Int(port) != nil {
      errors.say(
        "It leads back to this machine. First run there: ssh -L \(port):127.0.0.1:\(port) to here.")
    }
    let known = try session.call("diagnostics.export", [("client", client)])["diagnostics"]
    if kind != .register, known?.hasDeviceGrant ?? false {
      let advice: Advice = "Without a browser on this machine: \(.loginByDevice)."
      errors.say(advice.text(session.said))
    }
  }
}
