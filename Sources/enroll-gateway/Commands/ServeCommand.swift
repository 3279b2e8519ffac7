// The gateway as a program: `serve` answers, the other commands prepare and check. Failures are one line on standard error, which says
// what to do, and the exit status 1.

import ArgumentParser
import CPosix
import EnrollCore
import EnrollGateway
import EnrollGatewayHost
import EnrollGatewayPages
import EnrollGatewayStore
import EnrollHost
import EnrollPosix

@main
struct GatewayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enroll-gateway",
    abstract: "Signs users in at your providers, stores their accounts, and gives apps their sessions.",
    subcommands: [Serve.self, Migrate.self, Check.self, Keys.self, Accounts.self])
}

extension GatewayCommand {
  /// A signal that comes while the arguments are read, or the database is migrated, waits until `serve` reads it: by default SIGHUP
  /// would end the program.
  static func main() {
    // A database's connection in the place of standard output would get what is written there.
    enroll_posix_open_missing_streams()
    if let command = CommandLine.arguments.dropFirst().first, ASCII.equals(command, "serve") {
      ServiceSignals.block()
    }
    main(nil)
  }
}

struct ConfigOption: ParsableArguments {
  @Option(help: "The configuration file.")
  var config = "/etc/enroll-gateway/gateway.json"
}

struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Answer requests until SIGTERM. SIGHUP reads the key file again.")

  @OptionGroup var file: ConfigOption
  @Option(help: "Seconds that requests in progress have to finish after SIGTERM, 0 to 86400.")
  var stopSeconds: Int64 = 20

  func validate() throws {
    guard (0...86_400).contains(stopSeconds) else {
      throw ValidationError("--stop-seconds: expected 0 to 86400, got \(stopSeconds)")
    }
  }

  func run() throws {
    // Before the first thread, so that all of them have the signals blocked.
    let signals = ServiceSignals()
    var isDone = true
    try told { () throws(EnrollError) in
      let setup = try Setup(path: file.config)
      let keys = try setup.keys()
      let pages = try setup.pages()
      var options = try setup.hostOptions()
      let metricsOptions = try setup.metricsOptions()
      try CurlTransport.checkLibrary()
      let log = GatewayLog(level: .info, clock: setup.clock)
      let files = OpenFiles.raised()
      try files.check(databaseConnections: setup.settings.databaseConnections)
      options.limits.connections = files.connections(
        providerThreads: options.provider.threads, databaseConnections: setup.settings.databaseConnections,
        metricsConnections: metricsOptions?.limits.connections ?? 0)
      let metrics = GatewayMetrics(providers: setup.settings.providers.map(\.name))
      let store = try setup.store(telling: metrics)
      let applied = try setup.migrated(store)
      if !applied.isEmpty { log.write(.info, "the database was migrated to schema \(applied.max() ?? 0)") }
      if let state = try setup.schemaState(store) { log.write(.info, state) }
      let delivery = MailDelivery(log: log)
      let outbox = setup.outbox(store, keys, pages, log, delivery, metrics)
      let transport = try setup.mailTransport()
      let gateway = Gateway(
        settings: setup.settings, keys: keys, store: store,
        providers: setup.providers(telling: metrics), pages: pages,
        clock: setup.clock, random: SystemRandomSource(), log: log, mailer: outbox,
        registration: setup.registration(store, outbox), metrics: metrics, makeLock: { Mutex() })
      gateway.probe()
      // Before the first connection: without these threads the gateway would not notice what happens to it.
      var repeated = [
        Repetition.pruning(store, auditDays: setup.settings.auditDays, by: setup.clock, log),
        .probing(gateway, by: setup.clock), .revoking(gateway, by: setup.clock, log),
      ]
      if metricsOptions != nil { repeated.append(.measuring(gateway, by: setup.clock)) }
      for one in repeated { try one.start() }
      let host = try Setup.host(gateway, options)
      let page = MetricsPage(gateway, host, log, files, startedAt: setup.clock.wallTime())
      let metricsHost: HTTPHost? =
        if let metricsOptions { try Setup.host(page, metricsOptions, "metrics") } else { nil }
      let watch = Repetition.watching(host, by: setup.clock, log)
      try watch.start()
      log.write(
        .info, "open files: at most \(files.limit); connections: at most \(options.limits.connections)")
      log.write(.info, "listening on port \(host.port) for \(setup.settings.publicURL)")
      if let metricsHost {
        log.write(.info, "metrics: /metrics on port \(metricsHost.port) of this machine")
      }
      if let outbox, let transport { delivery.start(outbox, by: transport) }
      let manager = ServiceManager()
      manager.tell(.ready)
      while signals.next() == SIGHUP {
        manager.tell(.reloading)
        defer { manager.tell(.ready) }
        do throws(EnrollError) {
          let ring = try setup.keys()
          gateway.reload(ring)
          outbox?.reload(ring)
          log.write(.info, "the key file was read again: \(ring.count) keys")
          Self.note(ring, in: store, at: setup.clock.wallTime(), log)
        } catch {
          log.write(.error, "the key file was not read; the keys from before stay in use: \(error.message)")
        }
      }
      manager.tell(.stopping)
      log.write(.info, "stopping: requests in work are answered first")
      StopWatchdog.start(seconds: UInt32(2 * stopSeconds + 10))
      isDone = host.stop(withinSeconds: stopSeconds)
      for one in repeated + [watch] { one.stop() }
      metricsHost?.stop(withinSeconds: 1)
      delivery.stop(withinSeconds: stopSeconds)
      store.close()
      log.write(isDone ? .info : .warning, isDone ? "stopped" : "stopped with requests in work")
    }
    if !isDone { throw ExitCode(1) }
  }
}

extension Serve {
  private static func note(
    _ ring: KeyRing, in store: any AccountStore, at now: UnixTime, _ log: any LogHandler
  ) {
    do throws(StoreFailure) {
      try store.append(
        AuditEntry(at: now, .keysReloaded, account: nil, detail: String(ring.count), from: .program))
    } catch {
      log.write(.error, "the audit lacks the key file that was read: \(error.message)")
    }
  }
}

struct Migrate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Migrate the database to this program's schema. serve also does this.")

  @OptionGroup var file: ConfigOption

  func run() throws {
    try told { () throws(EnrollError) in
      let setup = try Setup(path: file.config)
      try setup.checkMaker()
      let store = try setup.store()
      defer { store.close() }
      let applied = try setup.migrated(store)
      StandardStream.say(
        applied.isEmpty
          ? "The schema is up to date." : "Applied: \(applied.map { String($0) }.joined(separator: ", ")).")
    }
  }
}

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check the configuration, the keys, the database, every provider and the directory."
  )

  @OptionGroup var file: ConfigOption
  @Flag(help: "Do not contact providers or the directory.")
  var offline = false

  func run() throws {
    try told { () throws(EnrollError) in
      let setup = try Setup(path: file.config)
      _ = try setup.keys()
      _ = try setup.pages()
      _ = try setup.hostOptions()
      _ = try setup.metricsOptions()
      try CurlTransport.checkLibrary()
      let state = try setup.databaseState()
      StandardStream.say("configuration, keys, texts and database: fine")
      if let state { StandardStream.say("database: \(state)") }
      var failed: EnrollError?
      for provider in offline ? [] : setup.providers() {
        do throws(EnrollError) {
          try provider.check()
          StandardStream.say("\(provider.name): fine")
        } catch {
          StandardStream.say("\(provider.name): \(error.message)")
          failed = error
        }
      }
      if failed != nil { throw EnrollError(.configuration, "a provider cannot be used; its line says why") }
      try Self.ask(offline ? nil : setup.otherDirectory())
      if let script = try setup.oktaScript() {
        StandardStream.say("For Okta's sign-in page, behind {{{OktaUtil}}}:\n\(script)")
      }
    }
  }
}

extension Check {
  private static func ask(_ directory: (any Directory)?) throws(EnrollError) {
    guard let directory else { return }
    do throws(DirectoryFailure) { try directory.probe() } catch {
      throw EnrollError(.configuration, "directory: \(error.message)", field: "directory")
    }
    StandardStream.say("directory \(directory.name): fine")
  }
}

struct Keys: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Create keys.", subcommands: [Add.self], defaultSubcommand: Add.self)

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract:
        "Add a key to the key file. The key opens data at once and seals data after a day; send SIGHUP to each gateway."
    )

    @OptionGroup var file: ConfigOption

    func run() throws {
      try told { () throws(EnrollError) in
        let setup = try Setup(path: file.config)
        let id = try KeyFile.addKey(to: setup.settings.keyFile, at: setup.clock.wallTime())
        StandardStream.say("key \(id) is in \(setup.settings.keyFile)")
      }
    }
  }
}

/// Runs a command; a failure is one line and the exit status 1.
func told(_ body: () throws(EnrollError) -> Void) throws {
  do throws(EnrollError) {
    try body()
    try StandardStream.checkOutput()
  } catch {
    StandardStream.say("enroll-gateway: \(error.message)", to: STDERR_FILENO)
    throw ExitCode(1)
  }
}
