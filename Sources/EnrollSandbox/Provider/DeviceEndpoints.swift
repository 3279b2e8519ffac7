// The two endpoints of the device grant (RFC 8628): a device asks for a code, and its user types the code on a page.
// Then the usual pages of a sign-in follow, and at the end a final page instead of a redirect.

import EnrollJSON

extension Provider {
  func authorizeDevice(_ http: SandboxRequest) -> SandboxAnswer {
    do throws(OAuthRefusal) {
      let (form, clientID) = try knownClient(http)
      var scopes = form.words("scope")
      if scopes.isEmpty { scopes = ["openid"] }
      let request = DeviceRequest(
        userCode: DeviceCodes.newUserCode(), clientID: clientID, scopes: scopes,
        expiresAt: now + options.deviceLifetimeSeconds, intervalSeconds: options.deviceIntervalSeconds,
        nextPollAt: now)
      let deviceCode = Encoding.randomToken()
      guard deviceCodes.add(request, as: deviceCode, now: now) else {
        throw OAuthRefusal("temporarily_unavailable", "too many devices are waiting", status: 503)
      }
      let address = issuer + Endpoint.device.path
      return .json(
        .object([
          ("device_code", .string(deviceCode)), ("user_code", .string(request.userCode)),
          ("verification_uri", .string(address)),
          ("verification_uri_complete", .string("\(address)?user_code=\(request.userCode)")),
          ("expires_in", .integer(options.deviceLifetimeSeconds)),
          ("interval", .integer(request.intervalSeconds)),
        ]))
    } catch {
      return Misbehaviour.refusal(error)
    }
  }

  /// The page on which the user types the code. A code in the URL is filled in, but the user still has to confirm it
  /// (§3.3.1).
  func device(_ http: SandboxRequest) -> SandboxAnswer {
    guard let form = http.method == "POST" ? http.form : Form(encoded: http.query) else {
      return Page.error("The form cannot be read.").answer()
    }
    let typed = String((form["user_code"] ?? "").prefix(32))
    guard http.method == "POST" else { return Page.enterDeviceCode(typed: typed).answer() }
    guard let deviceCode = deviceCodes.deviceCode(userCode: typed, now: now),
      let request = deviceCodes.requests[deviceCode]
    else {
      return Page.enterDeviceCode(
        typed: typed, problem: "No device waits with this code. It may have expired."
      )
      .answer()
    }
    return begin(deviceCode, request, browser: browserID(http))
  }

  private func begin(
    _ deviceCode: String, _ request: DeviceRequest, browser: (id: String, isNew: Bool)
  ) -> SandboxAnswer {
    forgetOldInteractions()
    var interaction = Interaction(
      CheckedAuthorization(
        clientID: request.clientID, redirectURI: "", scopes: request.scopes, state: nil, nonce: nil,
        codeChallenge: "", prompts: [], maxAgeSeconds: nil, loginHint: nil, acrValues: []),
      id: Encoding.randomToken(), browserID: browser.id, now: now)
    interaction.deviceCode = deviceCode
    // An attacker may have sent the link, so every device needs the user's approval (§5.4).
    interaction.mustConsent = true
    interactions[interaction.id] = interaction
    var answer = SandboxAnswer.redirect(to: "\(Endpoint.interaction.path)?id=\(interaction.id)")
    if browser.isNew { setCookie(browser.id, on: &answer) }
    return answer
  }

  /// Stores the user's decision: the device then gets the grant, or an error.
  func finishDevice(_ deviceCode: String, _ request: CheckedAuthorization, session: BrowserSession?)
    -> SandboxAnswer
  {
    guard let session else {
      deviceCodes.decide(deviceCode, .denied)
      return Page.deviceRefused.answer()
    }
    deviceCodes.decide(
      deviceCode,
      .allowed(
        UserGrant(
          userName: session.userName, clientID: request.clientID, scopes: request.scopes, nonce: nil,
          authTime: session.authTime, contextClass: session.contextClass, sessionID: session.sessionID)))
    return Page.deviceAllowed.answer()
  }

  /// Handles the device grant at the token endpoint.
  func redeemDevice(
    _ form: Form, clientID: String, key: String?, effects: [Fault.Effect]
  ) throws(OAuthRefusal) -> SandboxAnswer {
    guard let code = form["device_code"] else { throw .invalidRequest("device_code is missing") }
    return open(try deviceCodes.poll(code, clientID: clientID, now: now), key: key, effects: effects)
  }

  /// Stores the decision of a device's user without showing pages.
  /// - Throws: if no device waits with that code, or no user has the name.
  public func settleDevice(userCode: String, user name: String = "alice", denies: Bool = false) throws {
    guard let deviceCode = deviceCodes.deviceCode(userCode: userCode, now: now),
      let request = deviceCodes.requests[deviceCode]
    else { throw ControlError("no device waits with this code") }
    guard let user = user(name) else { throw ControlError("there is no user \(name)") }
    guard !denies else { return deviceCodes.decide(deviceCode, .denied) }
    deviceCodes.decide(
      deviceCode,
      .allowed(
        UserGrant(
          userName: user.name, clientID: request.clientID, scopes: request.scopes, nonce: nil, authTime: now,
          contextClass: .password, sessionID: Encoding.randomToken())))
  }
}
