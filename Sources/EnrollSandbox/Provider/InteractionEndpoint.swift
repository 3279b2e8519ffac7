// The pages between an authorization request and its redirect. Each form contains the id of its interaction, and must
// come with the cookie of the browser in which the interaction began. So a form of another site is refused.

extension Provider {
  func interact(_ http: SandboxRequest) -> SandboxAnswer {
    guard let form = http.method == "POST" ? http.form : Form(encoded: http.query) else {
      return Page.error("The form cannot be read.").answer()
    }
    guard let id = form[http.method == "POST" ? "interaction" : "id"], let interaction = interactions[id]
    else {
      return Page.error("This sign-in is over: it was finished before, or took too long.").answer()
    }
    guard now - interaction.begunAt <= options.interactionLifetimeSeconds else {
      return Page.error("This sign-in took too long.").answer()
    }
    guard http.cookie(cookieName) == interaction.browserID else {
      return Page.error("This sign-in began in another browser, or cookies are off.", status: 403).answer()
    }
    guard let client = client(interaction.request.clientID) else {
      return Page.error("The client is not known.").answer()
    }
    if http.method == "GET" { return next(interaction, client: client) }
    return submit(form, interaction, client: client)
  }

  private func submit(_ form: Form, _ old: Interaction, client: SandboxClient) -> SandboxAnswer {
    var interaction = old
    switch (form["step"].flatMap(Interaction.Step.init), form["action"]) {
    case (_, "cancel"):
      let effects = finish(interaction)
      if let deviceCode = interaction.deviceCode {
        return finishDevice(deviceCode, interaction.request, session: nil)
      }
      return refuse(
        OAuthRefusal("access_denied", "the user said no"), redirectURI: interaction.request.redirectURI,
        state: interaction.request.state, effects: effects)
    case (.signIn, "create"):
      interaction.mustCreate = true
    case (.create, "existing"):
      interaction.mustCreate = false
    case (.choose, "other"), (.consent, "other"):
      interaction.mustChoose = false
      interaction.mustSignIn = true
    case (.choose, _):
      interaction.mustChoose = false
    case (.consent, _):
      // The consent must come from the user who was asked: another user may have signed in since then.
      guard nextStep(interaction) == .consent, let session = signedIn[interaction.browserID] else { break }
      interaction.mustConsent = false
      consents[[session.userName, client.id], default: []].formUnion(interaction.request.scopes)
    case (.signIn, _): return signIn(form, interaction, client: client)
    case (.create, _): return createAccount(form, interaction, client: client)
    case (.done, _), (nil, _): return Page.error("The form cannot be read.").answer()
    }
    interactions[interaction.id] = interaction
    return next(interaction, client: client, afterForm: true)
  }

  private func signIn(_ form: Form, _ interaction: Interaction, client: SandboxClient) -> SandboxAnswer {
    let asksCode = interaction.contextClass == .twoFactors
    let typed = user(form["username"])
    guard let typed, typed.password == form["password"],
      !asksCode || form["code"] == User.confirmationCode
    else {
      let problem = "User name\(asksCode ? ", password or code is" : " or password is") not right."
      return Page.signIn(
        interaction, client: client, users: users, name: form["username"] ?? "", problem: problem,
        asksCode: asksCode
      ).answer()
    }
    return enter(typed, interaction, client: client)
  }

  private func createAccount(_ form: Form, _ interaction: Interaction, client: SandboxClient) -> SandboxAnswer
  {
    let (made, problems) = NewAccount.check(form) { user($0) != nil }
    guard let made else {
      return Page.createAccount(interaction, client: client, typed: form, problems: problems).answer()
    }
    users.append(made)
    return enter(made, interaction, client: client)
  }

  /// Starts a session with a new cookie, so that the old cookie is useless to anybody else who knows it.
  private func enter(_ user: User, _ old: Interaction, client: SandboxClient) -> SandboxAnswer {
    var interaction = old
    let before = signedIn.removeValue(forKey: interaction.browserID)
    interaction.browserID = Encoding.randomToken()
    interaction.mustSignIn = false
    interaction.mustCreate = false
    interaction.mustChoose = false
    interaction.signedInHere = true
    signedIn[interaction.browserID] = BrowserSession(
      userName: user.name, authTime: now, contextClass: interaction.contextClass,
      sessionID: before?.userName == user.name ? before?.sessionID ?? "" : Encoding.randomToken())
    interactions[interaction.id] = interaction
    var answer = next(interaction, client: client, afterForm: true)
    setCookie(interaction.browserID, on: &answer)
    return answer
  }

  /// The page of the next step, or the redirect to the client if no step is left. A submitted form is answered with a
  /// redirect to the next page, so that going back or reloading does not send the form again.
  private func next(_ interaction: Interaction, client: SandboxClient, afterForm: Bool = false)
    -> SandboxAnswer
  {
    let step = nextStep(interaction)
    let session = signedIn[interaction.browserID]
    let user = user(session?.userName)
    if step == .done, let session {
      if let deviceCode = interaction.deviceCode {
        _ = finish(interaction)
        return finishDevice(deviceCode, interaction.request, session: session)
      }
      return grant(interaction.request, to: session, effects: finish(interaction))
    }
    if afterForm { return .redirect(to: "\(Endpoint.interaction.path)?id=\(interaction.id)") }
    switch step {
    case .create: return Page.createAccount(interaction, client: client).answer()
    case .choose:
      guard let user else { break }
      return Page.chooseAccount(interaction, client: client, user: user).answer()
    case .consent:
      guard let user else { break }
      return Page.consent(interaction, client: client, user: user).answer()
    case .signIn, .done: break
    }
    return Page.signIn(
      interaction, client: client, users: users, name: interaction.request.loginHint ?? user?.name ?? "",
      asksCode: interaction.contextClass == .twoFactors
    ).answer()
  }

  private func finish(_ interaction: Interaction) -> [Fault.Effect] {
    interactions[interaction.id] = nil
    return redirectEffects.removeValue(forKey: interaction.id) ?? []
  }
}
