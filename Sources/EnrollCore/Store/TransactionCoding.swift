// Transactions as JSON for the store: one flat form for every flow. A secret that a flow does not have, or has spent,
// is written as an empty text.

import EnrollCrypto
import EnrollJSON

extension TransactionRecord {
  var json: JSON {
    let flat = StoredFlow(self)
    var object = JSONObject()
    object["id"] = .string(id.text)
    object["kind"] = .string(flat.kind.rawValue)
    object["status"] = .string(status.rawValue)
    object["issuer"] = .string(issuer.text)
    object["redirectURI"] = .string(flat.redirectURI)
    object["state"] = .secret(flat.state)
    object["nonce"] = .secret(flat.nonce)
    object["codeVerifier"] = .secret(flat.codeVerifier)
    object["dpopKey"] = flat.dpopKey?.json
    object["scopes"] = .strings(scopes)
    object["maxAgeSeconds"] = flat.demands.maxAgeSeconds.map { .integer($0) }
    object["acrValues"] = .strings(flat.demands.acrValues)
    object["prompt"] = flat.prompt.map { .string($0) }
    object["expectedSubject"] = flat.expectedSubject.map { .string($0) }
    object["isSocial"] = flat.isSocial ? .bool(true) : nil
    object["listensOnLoopback"] = .bool(flat.listensOnLoopback)
    object["began"] = .time(began)
    object["deadline"] = deadline.json
    object["isOvertaken"] = isOvertaken ? .bool(true) : nil
    object["step"] = .string(step.rawValue)
    object["details"] = flat.details?.json
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    let id = try object.string("id")
    let kindName = try object.string("kind")
    guard let kind = StoredFlow.Kind(rawValue: kindName) else {
      throw EnrollError(.storeCorrupt, "\(place).kind: unknown kind", field: place)
    }
    let statusName = try object.string("status")
    guard let status = Status(rawValue: statusName) else {
      throw EnrollError(.storeCorrupt, "\(place).status: unknown status", field: place)
    }
    let issuer = try object.string("issuer")
    var flat = StoredFlow(kind)
    flat.redirectURI = try object.string("redirectURI")
    flat.state = try object.secret("state")
    flat.nonce = try object.secret("nonce")
    flat.codeVerifier = try object.secret("codeVerifier")
    flat.dpopKey = try object.optional("dpopKey").map { json throws(EnrollError) in
      try DPoPKey(json: json, place + ".dpopKey")
    }
    let scopes = try object.strings("scopes")
    flat.demands.maxAgeSeconds = try object.optionalInteger("maxAgeSeconds")
    flat.demands.acrValues = try object.strings("acrValues")
    flat.prompt = try object.optionalString("prompt")
    // Absent in what earlier versions wrote.
    flat.expectedSubject = try object.optionalString("expectedSubject")
    flat.isSocial = object.optional("isSocial")?.bool ?? false
    flat.listensOnLoopback = try object.bool("listensOnLoopback")
    let began = try object.time("began")
    let deadline = try Expiry(json: object.value("deadline"), place + ".deadline")
    // Absent in what earlier versions wrote.
    let isOvertaken = object.optional("isOvertaken")?.bool ?? false
    let stepName = try object.string("step")
    guard let step = RegistrationState.Step(rawValue: stepName) else {
      throw EnrollError(.storeCorrupt, "\(place).step: unknown step", field: place)
    }
    flat.details = try object.optional("details").map { json throws(EnrollError) in
      try StoredFlow.Details(json: json, place + ".details")
    }
    try object.end()
    self.init(
      id: TransactionID(id), status: status, issuer: Issuer(issuer), scopes: scopes, began: began,
      deadline: deadline,
      isOvertaken: isOvertaken, flow: flat.flow(at: step))
    if isSettled { flow.spend() }
  }
}

/// The members of all flows together.
private struct StoredFlow {
  /// The stored words for the flows.
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
    case device(code: Secret, intervalSeconds: Int64, notBefore: Expiry)
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
      details = .device(
        code: device.code, intervalSeconds: device.intervalSeconds, notBefore: device.notBefore)
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

  /// - Parameter step: tells a code from a link, and a browser from an e-mail; the other flows have one step.
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
      guard case .device(let code, let intervalSeconds, let notBefore) = details else { return .device(nil) }
      return .device(
        .init(code: code, intervalSeconds: intervalSeconds, notBefore: notBefore, dpopKey: dpopKey))
    }
  }
}

extension StoredFlow.Details {
  var json: JSON {
    var object = JSONObject()
    switch self {
    case .app2app(let session):
      object["sessionID"] = .secret(session.id)
      object["tries"] = session.tries == 0 ? nil : .integer(session.tries)
    case .passwordless(let code):
      object["connection"] = .string(code.recipient.connection.rawValue)
      object["address"] = .string(code.recipient.address)
      object["tries"] = .integer(code.tries)
    case .bff(let provider): object["provider"] = .string(provider)
    case .links(let spent, let cause, let hasFallenBack):
      object["spentLinks"] = .strings(spent.hashes)
      object["origin"] = cause.map { .string($0.origin.text) }
      object["source"] = cause.map { .string($0.source.rawValue) }
      object["hasFallenBack"] = .bool(hasFallenBack)
    case .device(let code, let intervalSeconds, let notBefore):
      object["deviceCode"] = .secret(code)
      object["intervalSeconds"] = .integer(intervalSeconds)
      object["notBefore"] = notBefore.json
    }
    return .object(object)
  }

  init(json: JSON, _ place: String) throws(EnrollError) {
    var object = try StrictObject(json, place)
    if let sessionID = try object.optionalSecret("sessionID") {
      self = .app2app(.init(sessionID, tries: try object.optionalInteger("tries") ?? 0))
    } else if let spent = try object.optionalStrings("spentLinks") {
      self = .links(
        spent: SpentLinks(spent), cause: try LinkCause(&object, place),
        hasFallenBack: try object.bool("hasFallenBack"))
    } else if let name = try object.optionalString("connection") {
      guard let connection = Recipient.Connection(rawValue: name) else {
        throw EnrollError(.storeCorrupt, "\(place).connection: unknown", field: place)
      }
      let recipient = Recipient(connection, address: try object.string("address"))
      self = .passwordless(.init(to: recipient, tries: try object.integer("tries")))
    } else if let provider = try object.optionalString("provider") {
      self = .bff(provider: provider)
    } else {
      self = .device(
        code: try object.secret("deviceCode"), intervalSeconds: try object.integer("intervalSeconds"),
        notBefore: try Expiry(json: object.value("notBefore"), place + ".notBefore"))
    }
    try object.end()
  }
}

extension LinkCause {
  /// nil when the host began it.
  fileprivate init?(_ object: inout StrictObject, _ place: String) throws(EnrollError) {
    let origin = try object.optionalString("origin")
    let name = try object.optionalString("source")
    guard let origin, let name else {
      guard origin == nil, name == nil else {
        throw EnrollError(.storeCorrupt, "\(place): origin and source belong together", field: place)
      }
      return nil
    }
    guard let source = Source(rawValue: name) else {
      throw EnrollError(.storeCorrupt, "\(place).source: unknown", field: place)
    }
    self.init(source, for: TransactionID(origin))
  }
}
