// The gateway: one request in, one answer out. Everything that it needs of the world comes through the interfaces that it is made with;
// threads, sockets and files are the host's.

public import EnrollCore
import EnrollCrypto
import EnrollJSON
public import EnrollGatewayPages
public import EnrollHTTP

/// Answers requests. Any thread may ask at any time.
public final class Gateway: WebApplication {
  let settings: GatewaySettings
  let store: any AccountStore
  let providers: [SignInProvider]
  let clock: any Clock
  let random: any RandomSource
  let views: Views
  let log: any LogHandler
  /// nil: no mail is configured, and nobody is told by mail.
  let mailer: (any Mailer)?
  /// nil: nobody registers by e-mail.
  let registration: EmailRegistration?
  /// Reports of failures come without a session.
  let reports: RequestBudget
  let limits: Limits
  let finished: FinishedAttempts
  let metrics: GatewayMetrics
  private let ring: Guarded<KeyRing>
  let readiness: Guarded<Readiness>

  /// - Parameters:
  ///   - keys: the ring of the key file; ``reload(_:)`` takes a newer one.
  ///   - providers: one for each of the settings, in the same order.
  ///   - metrics: nil: of its own.
  public init(
    settings: GatewaySettings, keys: KeyRing, store: any AccountStore, providers: [SignInProvider],
    pages: Pages, clock: any Clock, random: any RandomSource, log: any LogHandler,
    mailer: (any Mailer)? = nil, registration: EmailRegistration? = nil,
    metrics: GatewayMetrics? = nil, makeLock: () -> any Lock
  ) {
    self.settings = settings
    self.store = store
    self.providers = providers
    self.clock = clock
    self.random = random
    self.log = log
    self.mailer = mailer
    self.registration = registration
    views = Views(pages: pages)
    reports = RequestBudget(100, inSeconds: 10, clock: clock, lock: makeLock())
    finished = FinishedAttempts(clock: clock, lock: makeLock())
    let metrics = metrics ?? GatewayMetrics(providers: settings.providers.map(\.name))
    self.metrics = metrics
    limits = Limits(
      settings.limits, store: store, clock: clock, log: log, makeLock: makeLock,
      observe: { metrics.observe($0) })
    ring = Guarded(keys, by: makeLock())
    readiness = Guarded(Readiness(), by: makeLock())
  }

  /// Uses this ring from now on. A cookie that an earlier key sealed opens while that key is in the ring.
  public func reload(_ keys: KeyRing) { ring.withLock { $0 = keys } }

  var keys: KeyRing { ring.withLock { $0 } }
  var now: UnixTime { clock.wallTime() }

  /// What answering this request may wait for.
  public func lane(for request: WebRequest) -> Lane {
    switch Route(path: request.path) {
    // Without a session's cookie there is nothing to ask.
    case .root, .account: request.cookie(Self.sessionCookie) == .absent ? .here : .database
    case .email(let form): form.lane(request.method)
    case let route: route?.lane ?? .here
    }
  }

  public func answer(_ request: WebRequest) -> WebResponse {
    let begin = clock.instant()
    let response = RequestID.$current.withValue(RequestID.make()) {
      AuditOrigin.$current.withValue(origin(of: request)) { answered(request) }
    }
    metrics.answered(
      Route(path: request.path), lane(for: request), status: response.status,
      nanoseconds: clock.instant().since(begin))
    return response
  }

  private func answered(_ request: WebRequest) -> WebResponse {
    guard let route = Route(path: request.path) else {
      return views.failure(.notFound, for: request)
    }
    guard takes(request, route) else {
      let methods = route.changesByGet ? "GET" : route.method == .get ? "GET, HEAD" : "POST"
      let allowed = HTTPHeader("Allow", methods)
      guard route.isForPrograms else {
        return views.failure(.methodNotAllowed, for: request, headers: [allowed])
      }
      return .refusal(
        "invalid_request", "expected \(route.method.rawValue)", status: 405, headers: [allowed])
    }
    do throws(Interruption) {
      return try answer(request, by: route)
    } catch {
      return answer(error, to: request, route)
    }
  }

  private func takes(_ request: WebRequest, _ route: Route) -> Bool {
    guard !(request.isHead && route.changesByGet) else { return false }
    return route.takes(request.method) || isAnswerByForm(request, route)
  }

  private func answer(_ request: WebRequest, by route: Route) throws(Interruption) -> WebResponse {
    if let kind = route.limit { try limit(kind, .client(request.client)) }
    return switch route {
    case .root: try .redirect(to: liveSession(request) == nil ? "/login" : "/account")
    case .email(let form): try answer(request, by: form)
    case .choice(let isSignUp): try choice(request, isSignUp: isSignUp)
    case .start(let name) where isEmail(name): try startByEmail(request)
    case .start(let name): try start(request, try provider(name))
    case .callback(let name): try finish(request, try provider(name))
    case .notification(let name): try takeNotification(request, try provider(name))
    case .dataDeletion(let name): try forget(request, try provider(name))
    case .deauthorization(let name): try deauthorize(request, try provider(name))
    case .deletionStatus: try deletionStatus(request)
    case .redeem(let name): try redeem(request, provider: name)
    case .account: try accountPage(request)
    case .signOut: try signOut(request)
    case .signedOut(let isEverywhere): views.signedOut(isEverywhere: isEverywhere, for: request)
    case .endSession: try endSession(request)
    case .endAllSessions: try endAllSessions(request)
    case .connect: try connect(request)
    case .disconnect: try disconnect(request)
    case .confirm: try confirmPage(request)
    case .startConfirming: try startConfirming(request)
    case .merge: try mergePage(request)
    case .mergeAccounts: try mergeAccounts(request)
    case .export: try export(request)
    case .deletion: try deletePage(request)
    case .deleteAccount: try deleteAccount(request)
    case .deleted: views.deleted(for: request)
    case .userinfo: try userinfo(request)
    case .registrationCheck: try registrationCheck(request)
    case .profile: try takeProfile(request)
    case .errorReport: takeErrorReport(request)
    case .revocation: try revoke(request)
    case .discovery: discovery()
    case .keys: publicKeys()
    case .accessToken: try accessToken(request)
    case .backchannelLogout(let name): try takeLogout(request, try provider(name))
    case .androidAssociation: AppAssociations.android(settings.apps)
    case .appleAssociation: AppAssociations.apple(settings.apps, publicOrigin: settings.publicURL)
    case .asset: views.asset(request.path) ?? views.failure(.notFound, for: request)
    case .live: WebResponse(204)
    case .ready: ready()
    }
  }

  /// The way to sign in that is no provider.
  func isEmail(_ name: String) -> Bool {
    registration != nil && ASCII.equals(name, RegistrationSettings.providerName)
  }

  /// - Throws: `.failure(.unknownProvider)`.
  func provider(_ name: String) throws(Interruption) -> SignInProvider {
    guard let provider = providers.first(where: { ASCII.equals($0.name, name) }) else {
      throw .failure(.unknownProvider)
    }
    return provider
  }
}

extension Gateway {
  /// Runs a call of the store.
  func stored<Result>(_ body: () throws(StoreFailure) -> Result) throws(Interruption) -> Result {
    do throws(StoreFailure) { return try body() } catch { throw .store(error) }
  }

  /// Where a change comes from that this request asks for.
  func origin(of request: WebRequest) -> AuditOrigin {
    AuditOrigin(address: request.client.utf8.isEmpty ? nil : request.client, request: RequestID.current)
  }

  /// Runs a rule whose failure would be the gateway's own.
  func owned<Result>(_ body: () throws(EnrollError) -> Result) throws(Interruption) -> Result {
    do throws(EnrollError) { return try body() } catch { throw .own(error) }
  }

  private func answer(_ interruption: Interruption, to request: WebRequest, _ route: Route) -> WebResponse {
    if let line = interruption.line { log.write(.error, line) }
    let failure = interruption.failure
    let headers = interruption.headers
    guard route.isForPrograms else { return views.failure(failure, for: request, headers: headers) }
    return .refusal(
      failure.oauthError, failure.words(provider: "the provider"), status: failure.status, headers: headers)
  }
}

extension WebResponse {
  /// A refusal as programs read it (RFC 6749 §5.2).
  static func refusal(
    _ error: String, _ description: String, status: Int = 400, headers: [HTTPHeader] = []
  ) -> WebResponse {
    .json(
      .object([("error", .string(error)), ("error_description", .string(description))]), status: status,
      headers: headers)
  }
}
