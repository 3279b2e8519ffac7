// One route: everything that the gateway knows about a method of a path. `Routes.swift` lists all routes. The
// dispatcher, the lanes, the limits, the metrics and the table in docs/gateway/app.md use these values.

import EnrollRules
import EnrollGatewayPages
import EnrollHTTP

/// A method of a path, and the step that answers it.
struct Route: Sendable {
  enum Method: Sendable {
    /// GET and HEAD.
    case get
    /// A GET that changes something: RFC 6749 §4.1.2 requires a GET here. The gateway refuses HEAD for such a route.
    case changingGet
    case post

    var name: WebRequest.Method { self == .post ? .post : .get }
    /// The value of the header `Allow`.
    var allowed: String { self == .get ? "GET, HEAD" : name.rawValue }

    func accepts(_ request: WebRequest) -> Bool {
      request.method == name && !(request.isHead && self == .changingGet)
    }
  }

  /// Who reads the route's answers: users get a failure as a page, and programs get it as JSON.
  enum Audience: Sendable { case users, programs }

  /// The resources for which the answer may have to wait.
  enum Waiting: Sendable {
    case nothing
    case database
    /// The answer needs the database only if the request has a session cookie.
    case databaseWithSession
    /// The answer may wait for a provider, a mail server, a directory, or the hash of a password.
    case provider

    func lane(of request: WebRequest) -> Lane {
      switch self {
      case .nothing: .here
      case .database: .database
      case .databaseWithSession: request.cookie(GatewaySessions.sessionCookie) == .absent ? .here : .database
      case .provider: .provider
      }
    }
  }

  /// Answers a request.
  typealias Step = (WebRequest) throws(Interruption) -> WebResponse
  typealias ProviderStep = (WebRequest, SignInProvider) throws(Interruption) -> WebResponse
  typealias NamedStep = (WebRequest, String) throws(Interruption) -> WebResponse
  /// Answers a request. The text is the variable part of the path; it is empty if no part varies.
  typealias Handler = @Sendable (Gateway, WebRequest, String) throws(Interruption) -> WebResponse

  /// Whether the route exists for this variable part of the path.
  typealias Existence = @Sendable (Gateway, String) -> Bool

  let method: Method
  /// The path. A variable part is in braces: see ``PathPattern``. The metrics use it as a label.
  let path: String
  let audience: Audience
  let waiting: Waiting
  /// The limit for each client's address; nil if the route has no such limit. E-mails and password attempts are counted
  /// in the steps instead, because they are also limited for each person.
  var limit: LimitKind?
  /// What the endpoint does, for docs/gateway/app.md, in Markdown with links from the top of the repository. nil for the pages
  /// and forms that only other pages link to.
  var about: String?
  /// Whether the path is for load balancers, whose requests may have any host name.
  var isProbe = false
  /// Whether the route exists for this variable part of the path. The gateway calls this closure only if the path does
  /// not support the request's method: the answer then lists the methods that the path supports. For all other
  /// requests, the step itself refuses a path that does not exist.
  let exists: Existence
  let handler: Handler

  private init(
    _ method: Method, _ path: String, _ audience: Audience, _ waiting: Waiting, limit: LimitKind? = nil,
    isProbe: Bool = false, _ about: String? = nil, exists: @escaping Existence = { _, _ in true },
    handler: @escaping Handler
  ) {
    self.method = method
    self.path = path
    self.audience = audience
    self.waiting = waiting
    self.limit = limit
    self.isProbe = isProbe
    self.about = about
    self.exists = exists
    self.handler = handler
  }

  /// A route without a variable part.
  init(
    _ method: Method, _ path: String, for audience: Audience, waitsFor waiting: Waiting,
    isProbe: Bool = false, _ about: String? = nil, _ step: @escaping @Sendable (Gateway) -> Step
  ) {
    self.init(method, path, audience, waiting, isProbe: isProbe, about) {
      (gateway, request, _) throws(Interruption) in try step(gateway)(request)
    }
  }

  /// A route below `/v1/auth/{provider}`, whose step gets the name of the provider.
  static func named(
    _ method: Method, _ path: String, for audience: Audience, waitsFor waiting: Waiting,
    limit: LimitKind? = nil, _ about: String? = nil, exists: @escaping Existence,
    _ step: @escaping @Sendable (Gateway) -> NamedStep
  ) -> Route {
    Route(method, path, audience, waiting, limit: limit, about, exists: exists) {
      (gateway, request, name) throws(Interruption) in try step(gateway)(request, name)
    }
  }

  /// A route below `/v1/auth/{provider}`. An unknown provider is a failure.
  /// - Parameter exists: says whether a provider has the route.
  static func provider(
    _ method: Method, _ path: String, for audience: Audience, waitsFor waiting: Waiting,
    limit: LimitKind? = nil, _ about: String? = nil,
    at exists: @escaping @Sendable (SignInProvider) -> Bool = { _ in true },
    _ step: @escaping @Sendable (Gateway) -> ProviderStep
  ) -> Route {
    Route(
      method, path, audience, waiting, limit: limit, about,
      exists: { gateway, name in (try? gateway.services.provider(name)).map(exists) ?? false }
    ) {
      (gateway, request, name) throws(Interruption) in
      try step(gateway)(request, try gateway.services.provider(name))
    }
  }

  /// A page or form for users who register or sign in by e-mail. It exists only on a gateway with such registration.
  /// - Parameter needsPasswords: whether the page exists only if the gateway's pages ask for passwords.
  static func email(
    _ method: Method, _ path: String, waitsFor waiting: Waiting, needsPasswords: Bool = false,
    _ step: @escaping @Sendable (EmailSteps) -> Step
  ) -> Route {
    link(method, path, waitsFor: waiting, needsPasswords: needsPasswords) { email in
      { (request, _) throws(Interruption) in try step(email)(request) }
    }
  }

  /// Like ``email(_:_:waitsFor:needsPasswords:_:)``, but for the target of a link in an e-mail: the step receives the
  /// link's token.
  static func link(
    _ method: Method, _ path: String, waitsFor waiting: Waiting, needsPasswords: Bool = false,
    _ step: @escaping @Sendable (EmailSteps) -> NamedStep
  ) -> Route {
    let email: @Sendable (Gateway) -> EmailSteps? = { gateway in
      gateway.email.flatMap { !needsPasswords || $0.registration.asksForPasswords ? $0 : nil }
    }
    return Route(method, path, .users, waiting, exists: { gateway, _ in email(gateway) != nil }) {
      (gateway, request, token) throws(Interruption) in
      guard let email = email(gateway) else { throw .failure(.notFound) }
      return try step(email)(request, token)
    }
  }
}
