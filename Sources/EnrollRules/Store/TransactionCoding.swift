// Transactions as JSON for the store: all flows have the same flat form. A secret that a flow does not have, or that
// is spent, is written as an empty text.

import EnrollCrypto
package import EnrollJSON

extension TransactionRecord {
  package var json: JSON {
    let flat = StoredFlow(self)
    var object = JSONObject()
    object.put("id", id.text)
    object.put("kind", flat.kind.rawValue)
    object.put("status", status.rawValue)
    object.put("issuer", issuer.text)
    object.put("redirectURI", flat.redirectURI)
    object.put("state", flat.state)
    object.put("nonce", flat.nonce)
    object.put("codeVerifier", flat.codeVerifier)
    object["dpopKey"] = flat.dpopKey?.json
    object.put("scopes", scopes)
    object.put("maxAgeSeconds", flat.demands.maxAgeSeconds)
    object.put("acrValues", flat.demands.acrValues)
    object.put("prompt", flat.prompt)
    object.put("expectedSubject", flat.expectedSubject)
    object["isSocial"] = flat.isSocial ? .bool(true) : nil
    object.put("listensOnLoopback", flat.listensOnLoopback)
    object.put("began", began)
    object["deadline"] = deadline.json
    object["isOvertaken"] = isSuperseded ? .bool(true) : nil
    object.put("step", step.rawValue)
    object["details"] = flat.details?.json
    return .object(object)
  }

  package init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    let id = object.string("id")
    let kindName = object.string("kind")
    guard let kind = StoredFlow.Kind(rawValue: kindName) else {
      throw object.damaged(".kind: unknown kind")
    }
    let statusName = object.string("status")
    guard let status = Status(rawValue: statusName) else {
      throw object.damaged(".status: unknown status")
    }
    let issuer = object.string("issuer")
    var flat = StoredFlow(kind)
    flat.redirectURI = object.string("redirectURI")
    flat.state = object.secret("state")
    flat.nonce = object.secret("nonce")
    flat.codeVerifier = object.secret("codeVerifier")
    flat.dpopKey = try object.optional("dpopKey").map { json throws(EnrollError) in
      try DPoPKey(json: json, place + ".dpopKey")
    }
    let scopes = object.strings("scopes")
    flat.demands.maxAgeSeconds = object.optionalInteger("maxAgeSeconds")
    flat.demands.acrValues = object.strings("acrValues")
    flat.prompt = object.optionalString("prompt")
    // Earlier versions wrote records without these members.
    flat.expectedSubject = object.optionalString("expectedSubject")
    flat.isSocial = object.optional("isSocial")?.bool ?? false
    flat.listensOnLoopback = object.bool("listensOnLoopback")
    let began = object.time("began")
    let deadline = object.expiry("deadline")
    // Earlier versions wrote records without this member.
    let isSuperseded = object.optional("isOvertaken")?.bool ?? false
    let stepName = object.string("step")
    guard let step = RegistrationState.Step(rawValue: stepName) else {
      throw object.damaged(".step: unknown step")
    }
    flat.details = try object.optional("details").map { json throws(EnrollError) in
      try StoredFlow.Details(json: json, place + ".details")
    }
    try object.end()
    self.init(
      id: TransactionID(id), status: status, issuer: Issuer(issuer), scopes: scopes, began: began,
      deadline: deadline,
      isSuperseded: isSuperseded, flow: flat.flow(at: step))
    if isSettled { flow.spend() }
  }
}

/// All the members that a flow may have in the store; each flow has only some of them.
private struct StoredFlow {
  /// The stored names of the flows.
  enum Kind: String {
    case signIn, register, passwordless, device
    case app2app = "anotherApp"
    case bff = "backend"
  }

  /// Members that only some flows have.
  enum Details {
    case app2app(TransactionRecord.App2App.Session)
    case passwordless(TransactionRecord.OneTimeCode)
    case bff(provider: String)
    case links(spent: SpentLinks, cause: LinkCause?, hasFallenBack: Bool)
    case device(TransactionRecord.Device)
  }

  let kind: Kind
  var redirectURI = ""
  var state = Secret([])
  var nonce = Secret([])
  var codeVerifier = Secret([])
  var dpopKey: DPoPKey?
  var demands = IDTokenDemands()
  var prompt: String?
  var expectedSubject: String?
  var isSocial = false
  var listensOnLoopback = false
  var details: Details?

  init(_ kind: Kind) { self.kind = kind }

  init(_ transaction: TransactionRecord) {
    switch transaction.flow {
    case .signIn(let signIn):
      self.init(.signIn)
      take(signIn.request)
      if signIn.cause != nil || signIn.hasFallenBack {
        details = .links(spent: SpentLinks(), cause: signIn.cause, hasFallenBack: signIn.hasFallenBack)
      }
    case .registration(let registration):
      self.init(.register)
      switch registration.start {
      case .request(let request): take(request)
      case .page(let demands): self.demands = demands
      }
      if !registration.spentLinks.hashes.isEmpty || registration.hasFallenBack {
        details = .links(
          spent: registration.spentLinks, cause: nil, hasFallenBack: registration.hasFallenBack)
      }
    case .magicLink(let link):
      self.init(.passwordless)
      take(link.request)
      details = link.recipient.map { .passwordless(TransactionRecord.OneTimeCode(to: $0)) }
    case .oneTimeCode(let code):
      self.init(.passwordless)
      details = code.map { .passwordless($0) }
    case .app2app(let app2app):
      self.init(.app2app)
      redirectURI = app2app.redirectURI
      details = app2app.session.map { .app2app($0) }
    case .bff(let bff):
      self.init(.bff)
      take(bff.redirect)
      prompt = bff.prompt
      if let exchange = bff.exchange {
        codeVerifier = exchange.codeVerifier
        details = .bff(provider: exchange.provider)
      }
    case .device(let device):
      self.init(.device)
      guard let device else { return }
      dpopKey = device.dpopKey
      codeVerifier = device.codeVerifier ?? codeVerifier
      details = .device(device)
    }
  }

  private mutating func take(_ redirect: AwaitedRedirect) {
    (redirectURI, state) = (redirect.uri, redirect.state)
    listensOnLoopback = redirect.listensOnLoopback
  }

  private mutating func take(_ request: CodeRequest) {
    take(request.redirect)
    if let secrets = request.secrets {
      (nonce, codeVerifier, dpopKey) = (secrets.nonce, secrets.codeVerifier, secrets.dpopKey)
    }
    (demands, prompt, expectedSubject) = (request.demands, request.prompt, request.expectedSubject)
    isSocial = request.isSocial
  }

  // MARK: Reading

  private var redirect: AwaitedRedirect {
    AwaitedRedirect(uri: redirectURI, state: state, listensOnLoopback: listensOnLoopback)
  }

  private var request: CodeRequest {
    CodeRequest(
      redirect: redirect,
      secrets: codeVerifier.isEmpty
        ? nil : CodeRequest.Secrets(nonce: nonce, codeVerifier: codeVerifier, dpopKey: dpopKey),
      demands: demands, prompt: prompt, expectedSubject: expectedSubject, isSocial: isSocial)
  }

  /// The flow with the members that were read.
  /// - Parameter step: distinguishes a one-time code from a link, and a browser from an e-mail; every other flow has
  ///   only one step.
  func flow(at step: RegistrationState.Step) -> TransactionRecord.Flow {
    switch kind {
    case .signIn:
      guard case .links(_, let cause, let hasFallenBack) = details else { return .signIn(.init(request)) }
      return .signIn(.init(request, cause: cause, hasFallenBack: hasFallenBack))
    case .register:
      var registration = TransactionRecord.EmailRegistration(
        redirectURI.isEmpty ? .page(demands) : .request(request), isInBrowser: step == .browser)
      if case .links(let spent, _, let hasFallenBack) = details {
        (registration.spentLinks, registration.hasFallenBack) = (spent, hasFallenBack)
      }
      return .registration(registration)
    case .passwordless:
      var code: TransactionRecord.OneTimeCode?
      if case .passwordless(let sent) = details { code = sent }
      return step == .codePending
        ? .oneTimeCode(code) : .magicLink(.init(request, to: code?.recipient))
    case .app2app:
      var app2app = TransactionRecord.App2App(redirectURI: redirectURI, session: nil)
      if case .app2app(let session) = details { app2app.session = session }
      return .app2app(app2app)
    case .bff:
      var bff = TransactionRecord.BFF(redirect: redirect, prompt: prompt, exchange: nil)
      if case .bff(let provider) = details {
        bff.exchange = .init(provider: provider, codeVerifier: codeVerifier)
      }
      return .bff(bff)
    case .device:
      guard case .device(var device) = details else { return .device(nil) }
      device.dpopKey = dpopKey
      device.codeVerifier = codeVerifier.isEmpty ? nil : codeVerifier
      return .device(device)
    }
  }
}

extension StoredFlow.Details {
  var json: JSON {
    var object = JSONObject()
    switch self {
    case .app2app(let session):
      object.put("sessionID", session.id)
      object["tries"] = session.tries == 0 ? nil : .integer(session.tries)
    case .passwordless(let code):
      object.put("connection", code.recipient.connection.rawValue)
      object.put("address", code.recipient.address)
      object.put("tries", code.tries)
    case .bff(let provider): object.put("provider", provider)
    case .links(let spent, let cause, let hasFallenBack):
      object.put("spentLinks", spent.hashes)
      object.put("origin", cause?.origin.text)
      object.put("source", cause?.source.rawValue)
      object.put("hasFallenBack", hasFallenBack)
    case .device(let device):
      object.put("deviceCode", device.code)
      object.put("intervalSeconds", device.intervalSeconds)
      object["notBefore"] = device.notBefore.json
      object["serverErrors"] = device.serverErrors == 0 ? nil : .integer(device.serverErrors)
      object.put("lastAnswer", device.lastAnswer)
    }
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    let object = StrictObject(json, place)
    if let sessionID = object.optionalSecret("sessionID") {
      self = .app2app(.init(sessionID, tries: object.optionalInteger("tries") ?? 0))
    } else if let spent = object.optionalStrings("spentLinks") {
      self = .links(
        spent: SpentLinks(spent), cause: try LinkCause(object),
        hasFallenBack: object.bool("hasFallenBack"))
    } else if let name = object.optionalString("connection") {
      guard let connection = Recipient.Connection(rawValue: name) else {
        throw object.damaged(".connection: unknown")
      }
      let recipient = Recipient(connection, address: object.string("address"))
      self = .passwordless(.init(to: recipient, tries: object.integer("tries")))
    } else if let provider = object.optionalString("provider") {
      self = .bff(provider: provider)
    } else {
      self = .device(
        .init(
          code: object.secret("deviceCode"), intervalSeconds: object.integer("intervalSeconds"),
          notBefore: object.expiry("notBefore"),
          serverErrors: object.optionalInteger("serverErrors") ?? 0,
          lastAnswer: object.optionalString("lastAnswer")))
    }
    try object.end()
  }
}

extension LinkCause {
  /// The link that began the transaction; nil if the host began it.
  fileprivate init?(_ object: StrictObject) throws(EnrollError) {
    let origin = object.optionalString("origin")
    let name = object.optionalString("source")
    guard let origin, let name else {
      guard origin == nil, name == nil else {
        throw object.damaged(": origin and source belong together")
      }
      return nil
    }
    guard let source = Source(rawValue: name) else {
      throw object.damaged(".source: unknown")
    }
    self.init(source, for: TransactionID(origin))
  }
}
