// A running gateway: its parts, in the order in which they start and stop.

import EnrollRules
import EnrollSteps
import EnrollGateway
import EnrollGatewayStore
import EnrollHTTP
import EnrollHost
import EnrollPosix

struct Serving {
  private let setup: Setup
  private let log: GatewayLog
  private let store: any AccountStore
  private let gateway: Gateway
  private let outbox: Outbox?
  private let server: HTTPServer
  private let metricsServer: HTTPServer?
  private let repeated: [Repetition]
  private let delivery: MailDelivery

  /// Starts everything. When this returns, the server listens.
  init(_ setup: Setup) throws(EnrollError) {
    let keys = try setup.keys()
    let pages = try setup.pages()
    var settings = try setup.serverSettings()
    let metricsSettings = try setup.metricsSettings()
    try CurlTransport.checkLibrary()
    let log = GatewayLog(level: .info, clock: setup.clock)
    let files = OpenFiles.raised()
    try files.check(databaseConnections: setup.settings.databaseConnections)
    settings.limits.connections = files.connections(
      providerThreads: settings.provider.threads, databaseConnections: setup.settings.databaseConnections,
      metricsConnections: metricsSettings?.limits.connections ?? 0)
    let metrics = GatewayMetrics(
      providers: setup.settings.providers.map(\.name), routes: Gateway.routeLabels)
    store = try Self.store(setup, metrics, log)
    let delivery = MailDelivery(log: log)
    outbox = setup.outbox(store, keys, pages, log, delivery, metrics)
    let transport = try setup.mailTransport()
    gateway = Gateway(
      settings: setup.settings, keys: keys, store: store,
      providers: setup.providers(metrics: metrics), pages: pages,
      clock: setup.clock, random: SystemRandomSource(), log: log, mailer: outbox,
      registration: setup.registration(store, outbox), metrics: metrics, makeLock: { Mutex() })
    gateway.probe()
    // Start these threads before the first connection: without them the gateway would not notice the state of its
    // database.
    var repeated = [
      Repetition.pruning(store, auditDays: setup.settings.auditDays, by: setup.clock, log),
      .probing(gateway), .revoking(gateway, log),
    ]
    if metricsSettings != nil { repeated.append(.measuring(gateway)) }
    for one in repeated { try one.start() }
    server = try Setup.server(gateway, settings)
    let page = MetricsPage(gateway, server, log, files, startedAt: setup.clock.wallTime())
    metricsServer = if let metricsSettings { try Setup.server(page, metricsSettings, "metrics") } else { nil }
    let watch = Repetition.watching(server, log)
    try watch.start()
    self.repeated = repeated + [watch]
    log.write(
      .info, "open files: at most \(files.limit); connections: at most \(settings.limits.connections)")
    log.write(.info, "listening on port \(server.port) for \(setup.settings.publicURL)")
    if let metricsServer {
      log.write(.info, "metrics: /metrics on port \(metricsServer.port) of this machine")
    }
    if let outbox, let transport { delivery.start(outbox, by: transport) }
    (self.setup, self.log, self.delivery) = (setup, log, delivery)
  }

  private static func store(
    _ setup: Setup, _ metrics: GatewayMetrics, _ log: GatewayLog
  ) throws(EnrollError) -> any AccountStore {
    let store = try setup.store(observer: metrics)
    let applied = try setup.migrated(store)
    if !applied.isEmpty { log.write(.info, "the database was migrated to schema \(applied.max() ?? 0)") }
    if let state = try setup.schemaState(store) { log.write(.info, state) }
    return store
  }

  /// Reads the key file again. If that fails, the current keys stay in use.
  func reload() {
    do throws(EnrollError) {
      let ring = try setup.keys()
      gateway.reload(ring)
      outbox?.reload(ring)
      log.write(.info, "the key file was read again: \(ring.count) keys")
      // Another thread writes the audit entry, because this thread reads signals. The database may be locked,
      // and SIGTERM must not wait for it.
      if !BackgroundThread.start({ note(ring.count) }) { note(ring.count) }
    } catch {
      log.write(.error, "the key file was not read; the keys from before stay in use: \(error.message)")
    }
  }

  private func note(_ count: Int) {
    do throws(StoreFailure) {
      try store.append(
        AuditEntry(
          at: setup.clock.wallTime(), .keysReloaded, account: nil, detail: String(count), from: .program)
      )
    } catch {
      log.write(.error, "the audit lacks the key file that was read: \(error.message)")
    }
  }

  /// Stops the gateway, after the requests that are being answered.
  /// - Returns: false if some requests did not end in time.
  func stop(withinSeconds seconds: Int64) -> Bool {
    log.write(.info, "stopping: requests in work are answered first")
    let isDone = server.stop(withinSeconds: seconds)
    for one in repeated { one.stop() }
    metricsServer?.stop(withinSeconds: 1)
    delivery.stop(withinSeconds: seconds)
    store.close()
    log.write(isDone ? .info : .warning, isDone ? "stopped" : "stopped with requests in work")
    return isDone
  }
}
