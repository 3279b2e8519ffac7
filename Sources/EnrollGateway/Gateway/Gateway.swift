// The gateway as a web application: it answers requests. It reaches the outside world only through the interfaces that it is
// created with; threads, sockets and files belong to the host.

import EnrollRules
public import EnrollSteps
import EnrollCrypto
import EnrollJSON
public import EnrollGatewayPages
public import EnrollHTTP

/// Answers requests. Any thread may call it at any time.
public final class Gateway: WebApplication {
  let services: GatewayServices
  let account: AccountPages
  let deletion: AccountDeletion
  let linking: IdentityLinking
  let starts: SignInStart
  let callback: SignInCallback
  let requests: ProviderRequests
  let apps: AppEndpoints
  let tokens: AccessTokens
  /// The steps of registration by e-mail; nil if users cannot register by e-mail.
  let email: EmailSteps?
  let revocations: Revocations
  let limits: Limits
  let readiness: ReadinessCheck
  let measurement: MetricsReading
  private let metrics: GatewayMetrics

  /// Makes a gateway from its parts.
  /// - Parameters:
  ///   - keys: the keys of the key file; ``reload(_:)`` replaces them.
  ///   - providers: the configured providers, in the order of the settings.
  ///   - mailer: nil if no mail is configured; users then get no e-mails.
  ///   - registration: nil if users cannot register by e-mail.
  ///   - metrics: nil if the gateway makes its own counters.
  public init(
    settings: GatewaySettings, keys: KeyRing, store: any AccountStore, providers: [SignInProvider],
    pages: Pages, clock: any Clock, random: any RandomSource, log: any LogHandler,
    mailer: (any Mailer)? = nil, registration: EmailRegistration? = nil,
    metrics: GatewayMetrics? = nil, makeLock: () -> any Lock
  ) {
    let services = GatewayServices(
      settings: settings, keys: keys, providers: providers, registration: registration, clock: clock,
      random: random, views: Views(pages: pages), log: log, lock: makeLock())
    let metrics =
      metrics
      ?? GatewayMetrics(providers: settings.providers.map(\.name), routes: Self.routeLabels)
    let limits = Limits(
      settings.limits, store: store, clock: clock, log: log, makeLock: makeLock,
      observe: { metrics.observe($0) })
    let sessions = GatewaySessions(services: services, store: store)
    let notices = AccountNotices(services: services, mailer: mailer)
    let completion = SignInCompletion(services: services, store: store, sessions: sessions, metrics: metrics)
    let reports = RequestBudget(100, inSeconds: 10, clock: clock, lock: makeLock())
    self.services = services
    self.metrics = metrics
    self.limits = limits
    readiness = ReadinessCheck(
      store: store, clock: clock, log: log, state: Guarded(Readiness(), by: makeLock()))
    measurement = MetricsReading(metrics: metrics, audit: store, registrations: store, readiness: readiness)
    revocations = Revocations(services: services, store: store)
    starts = SignInStart(services: services)
    account = AccountPages(services: services, store: store, sessions: sessions)
    deletion = AccountDeletion(
      services: services, store: store, sessions: sessions, notices: notices, revocations: revocations)
    linking = IdentityLinking(
      services: services, store: store, sessions: sessions, starts: starts, notices: notices,
      revocations: revocations)
    callback = SignInCallback(
      services: services, store: store, sessions: sessions, completion: completion, starts: starts,
      linking: linking, limits: limits, finished: FinishedAttempts(clock: clock, lock: makeLock()),
      metrics: metrics)
    requests = ProviderRequests(services: services, store: store, notices: notices)
    apps = AppEndpoints(services: services, store: store, sessions: sessions, reports: reports)
    tokens = AccessTokens(services: services, sessions: sessions)
    email = registration.map { [starts] registration in
      EmailSteps(
        services: services, store: store, registration: registration, sessions: sessions,
        forms: VisitorForms(services: services, sessions: sessions, starts: starts), completion: completion,
        starts: starts,
        passwordChange: PasswordChange(
          services: services, store: store, own: registration.own, sessions: sessions, notices: notices,
          limits: limits), limits: limits, metrics: metrics)
    }
  }

  /// Uses these keys from now on. A cookie that was sealed with an earlier key can be opened while that key is in the ring.
  public func reload(_ keys: KeyRing) { services.reload(keys) }

  /// Looks up the path of the request. Returns the request's lane, which says what the answer may wait for.
  public func lane(for request: inout WebRequest) -> Lane {
    let place = RouteTable.shared.place(of: request.path)
    request.place = place
    return RouteTable.shared[place]?.lane(of: request) ?? .here
  }

  public func answer(_ request: WebRequest) -> WebResponse {
    let begin = services.clock.instant()
    let place = request.place ?? RouteTable.shared.place(of: request.path)
    let path = RouteTable.shared[place]
    let response = RequestID.$current.withValue(RequestID.make()) {
      AuditOrigin.$current.withValue(AuditOrigin(of: request)) { answer(request, at: path) }
    }
    metrics.answered(
      place, path?.lane(of: request) ?? .here, status: response.status,
      nanoseconds: services.clock.instant().since(begin))
    return response
  }

  private func answer(_ request: WebRequest, at path: RouteTable.Path?) -> WebResponse {
    guard let path else { return services.views.failure(.notFound, for: request) }
    guard let route = path.route(of: request) else { return methodNotAllowed(request, path) }
    do throws(Interruption) {
      if let kind = route.limit { try limits.count(kind, .client(request.client)) }
      return try route.handler(self, request, path.pattern.parameter(in: request.path))
    } catch {
      // The table of routes has the method for this path, but this provider does not support it.
      if case .methodNotAllowed = error.failure { return methodNotAllowed(request, path) }
      return answer(error, to: request, route)
    }
  }

  /// The answer to a request whose method the path does not support. The answer names the supported methods (RFC 9110
  /// §10.2.1, §15.5.6).
  private func methodNotAllowed(_ request: WebRequest, _ path: RouteTable.Path) -> WebResponse {
    let part = path.pattern.parameter(in: request.path)
    let routes = path.routes.filter { $0.exists(self, part) }
    guard !routes.isEmpty else {
      let isUnknownProvider = path.pattern.part == .provider && (try? services.provider(part)) == nil
      let failure: EnrollGatewayPages.Failure = isUnknownProvider ? .unknownProvider : .notFound
      return answer(.failure(failure), to: request, path.routes[0])
    }
    let headers = [HTTPHeader("Allow", routes.map(\.method.allowed).joined(separator: ", "))]
    switch routes[0].audience {
    case .users: return services.views.failure(.methodNotAllowed, for: request, headers: headers)
    case .programs:
      let names = routes.map(\.method.name.rawValue).joined(separator: " or ")
      return .refusal("invalid_request", "expected \(names)", status: 405, headers: headers)
    }
  }

  private func answer(_ interruption: Interruption, to request: WebRequest, _ route: Route) -> WebResponse {
    if let line = interruption.line { services.log.write(.error, line) }
    let failure = interruption.failure
    let headers = interruption.headers
    switch route.audience {
    case .users: return services.views.failure(failure, for: request, headers: headers)
    case .programs:
      return .refusal(
        failure.oauthError, failure.words(provider: "the provider"), status: failure.status, headers: headers)
    }
  }
}

extension WebResponse {
  /// A refusal for programs (RFC 6749 §5.2).
  static func refusal(
    _ error: String, _ description: String, status: Int = 400, headers: [HTTPHeader] = []
  ) -> WebResponse {
    .json(
      .object([("error", .string(error)), ("error_description", .string(description))]), status: status,
      headers: headers)
  }
}
