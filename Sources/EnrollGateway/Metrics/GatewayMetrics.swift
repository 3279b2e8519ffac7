// The counters of the gateway. All values that the metrics' labels can have are known at the start: no request adds
// another value.

import EnrollRules
import EnrollHTTP

/// The gateway's counters. Any thread may increment them.
public final class GatewayMetrics: StoreObserver {
  /// The result of a request to a provider.
  enum CallOutcome: String, CaseIterable, Sendable { case ok, refused, failed, unreachable }
  /// The result of a sign-in.
  enum SignInOutcome: String, CaseIterable, Sendable {
    case registered
    case signedIn = "signed_in"
    case cancelled
    /// The provider refused the sign-in, or its answer did not pass a check.
    case refused
    case unavailable
  }
  enum MailResult: String, CaseIterable, Sendable { case sent, refused, failed, expired }
  private enum DatabaseOutcome: String, CaseIterable { case ok, unavailable, unknown, full, schema, fault }

  private let providers: [String]
  private let requests: CounterTable
  private let durations: [Histogram]
  private let providerCalls: CounterTable
  private let providerSeconds: [Histogram]
  private let databaseCalls: CounterTable
  private let databaseSeconds = Histogram(.databaseSeconds)
  private let signIns: CounterTable
  private let begun = CounterTable(.sessionsBegun, [[]])
  private let ended = CounterTable(.sessionsEnded, SessionEnd.allCases.map { [$0.rawValue] })
  private let mails = CounterTable(.mails, MailResult.allCases.map { [$0.rawValue] })
  private let limits: CounterTable
  private let alone = CounterTable(.limitsAlone, [[]])
  /// A negative value means unknown.
  let mailsWaiting = MetricCell()
  let auditEntries = MetricCell()

  static let lanes = ["here", "database", "provider"]
  private static let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"]

  /// - Parameters:
  ///   - providers: the names of the configured providers.
  ///   - routes: ``Gateway/routeLabels``.
  public init(providers: [String], routes: [String]) {
    self.providers = providers
    requests = CounterTable(
      .requests, routes.flatMap { route in Self.classes.map { [route, $0] } })
    durations = Self.lanes.map { Histogram(.requestSeconds, [$0]) }
    providerCalls = CounterTable(
      .providerCalls, providers.flatMap { name in CallOutcome.allCases.map { [name, $0.rawValue] } })
    providerSeconds = providers.map { Histogram(.providerSeconds, [$0]) }
    databaseCalls = CounterTable(.databaseCalls, DatabaseOutcome.allCases.map { [$0.rawValue] })
    signIns = CounterTable(
      .signIns,
      (providers + [RegistrationSettings.providerName]).flatMap { name in
        SignInOutcome.allCases.map { [name, $0.rawValue] }
      })
    limits = CounterTable(.limits, LimitRules.members.map { [$0.name] })
    mailsWaiting.set(-1)
    auditEntries.set(-1)
  }

  /// - Parameter place: the index of the route's path in the table of routes.
  func answered(_ place: Int, _ lane: Lane, status: Int, nanoseconds: Int64) {
    requests.add(place * Self.classes.count + min(max(status / 100 - 1, 0), Self.classes.count - 1))
    durations[lane == .here ? 0 : lane == .database ? 1 : 2].add(nanoseconds: nanoseconds)
  }

  func called(provider: String, _ outcome: CallOutcome, nanoseconds: Int64) {
    guard let place = providers.firstIndex(where: { ASCII.equals($0, provider) }) else { return }
    providerCalls.add(place * CallOutcome.allCases.count + Self.place(outcome))
    providerSeconds[place].add(nanoseconds: nanoseconds)
  }

  func signedIn(at provider: String, _ outcome: SignInOutcome) {
    // Sign-in by e-mail has the index after the last provider.
    let place = providers.firstIndex { ASCII.equals($0, provider) } ?? providers.count
    signIns.add(place * SignInOutcome.allCases.count + Self.place(outcome))
  }

  func observe(_ limit: Limits.Observation) {
    switch limit {
    case .alone: alone.add(0)
    case .refused(let kind, let scope):
      guard let place = LimitRules.members.firstIndex(where: { $0.kind == kind && $0.scope == scope }) else {
        return
      }
      limits.add(place)
    }
  }

  func handled(_ mail: MailResult) { mails.add(Self.place(mail)) }

  private static func place<Value: CaseIterable & Equatable>(_ value: Value) -> Int {
    Array(Value.allCases).firstIndex(of: value) ?? 0
  }

  // MARK: StoreObserver

  public func called(nanoseconds: Int64, failure: StoreFailure?) {
    let outcome: DatabaseOutcome =
      switch failure {
      case nil: .ok
      case .unavailable: .unavailable
      case .unknownOutcome: .unknown
      case .full: .full
      case .schema: .schema
      case .fault: .fault
      }
    databaseCalls.add(Self.place(outcome))
    databaseSeconds.add(nanoseconds: nanoseconds)
  }

  public func sessionBegan() { begun.add(0) }

  public func sessionsEnded(_ count: Int, _ reason: SessionEnd) { ended.add(Self.place(reason), count) }

  // MARK: Exposition

  /// - Parameter outside: further samples, about the host, the process and the key file.
  func text(with outside: [MetricSample]) -> String {
    var text = MetricsText()
    let known = [(Metric.mailsWaiting, mailsWaiting), (.auditEntries, auditEntries)]
      .filter { $0.1.reading >= 0 }.map { MetricSample($0.0, [], Double($0.1.reading)) }
    let samples =
      requests.samples(withZeros: false) + providerCalls.samples() + databaseCalls.samples()
      + signIns.samples() + begun.samples() + ended.samples() + mails.samples() + limits.samples()
      + alone.samples() + known + outside
    for metric in Metric.allCases {
      switch metric {
      case .requestSeconds: text.write(metric, durations)
      case .providerSeconds where !providerSeconds.isEmpty: text.write(metric, providerSeconds)
      case .databaseSeconds: text.write(metric, [databaseSeconds])
      default: text.write(metric, samples.filter { $0.metric == metric })
      }
    }
    return text.text
  }
}
