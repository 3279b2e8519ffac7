// Makes the parts of the gateway from the configuration file. Errors of the configuration are found here, before the
// first request.

import CPosix
import EnrollRules
import EnrollCrypto
import EnrollGateway
import EnrollHTTP
import EnrollGatewayPages
import EnrollGatewayStore
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore

/// A configuration, and functions that make its parts.
struct Setup {
  /// The configuration file.
  private let path: String
  let settings: GatewaySettings
  let clock = SystemClock()

  /// Reads a configuration file.
  /// - Parameter path: the configuration file.
  /// - Throws: `.notFound`, `.configuration`.
  init(path: String) throws(EnrollError) {
    let json = try UserDirectories.readConfiguration(at: path, called: path)
    let files = ConfiguredFiles(besides: path)
    self.path = path
    settings = try GatewaySettings(json: try Self.withSecrets(files.resolved(json)))
  }

  /// Reads secrets from files: a provider's `clientSecretFile` becomes its `clientSecret`.
  private static func withSecrets(_ json: JSON) throws(EnrollError) -> JSON {
    guard var top = json.object else { return json }
    if var providers = top["providers"]?.object {
      for member in providers.members {
        var provider = member.value
        for name in GatewaySettings.providerSecrets {
          provider = try withSecret(name, in: provider, "providers.\(member.key)")
        }
        providers[member.key] = provider
      }
      top["providers"] = .object(providers)
    }
    for (name, secret) in [("directory", "token"), ("directory", "clientSecret"), ("mail", "password")] {
      if let object = top[name] { top[name] = try withSecret(secret, in: object, name) }
    }
    return .object(top)
  }

  /// Reads one secret from its file.
  /// - Parameter name: the key of the secret; the key with `File` appended names its file.
  private static func withSecret(
    _ name: String, in json: JSON, _ place: String
  ) throws(EnrollError) -> JSON {
    guard var object = json.object, let file = object[name + "File"] else { return json }
    let field = "\(place).\(name)File"
    guard let path = file.string else {
      throw EnrollError(.configuration, "\(field): expected a string, got \(file.kind)", field: field)
    }
    object[name + "File"] = nil
    let isClientSecret = ASCII.equals(name, "clientSecret")
    object[name] = .string(
      try UserDirectories.readClientSecret(
        at: path, called: isClientSecret ? "client secret" : name, field: field))
    var status = stat()
    guard
      !GatewaySettings.isPrivateKey(name) || stat(path, &status) == 0 && status.st_mode & 0o007 == 0
    else {
      throw EnrollError(
        .configuration, "\(field): everybody may read the private key \(path); run chmod 600 \(path)",
        field: field)
    }
    return .object(object)
  }

  /// Reads the key file.
  /// - Throws: `.notFound` if there is no key file; `.configuration` if users other than the owner may read it.
  func keys() throws(EnrollError) -> KeyRing {
    do throws(EnrollError) { return try KeyFile.ring(at: settings.keyFile) } catch {
      guard error.code == .notFound else { throw error }
      throw EnrollError(
        .notFound, "\(error.message). Run: enroll-gateway keys add --config \(path)", field: "keys")
    }
  }

  /// Opens the store that the configuration names.
  /// - Throws: `.configuration` for an unknown kind of database, and for a failure of the store.
  func store(observer: (any StoreObserver)? = nil) throws(EnrollError) -> any AccountStore {
    let text = settings.database
    do throws(StoreFailure) {
      if let path = sqlitePath { return try SQLiteStore(path: path, observer: observer) }
      if text.utf8.starts(with: "postgresql:".utf8) || text.utf8.starts(with: "postgres:".utf8) {
        return try PostgreSQLStore(
          text, connections: settings.databaseConnections, observer: observer)
      }
    } catch {
      throw EnrollError(.configuration, "database: \(error.message)", field: "database")
    }
    throw EnrollError(
      .configuration, "database: expected sqlite:PATH or a postgresql:// URL", field: "database")
  }

  /// The providers, in the order of the configuration.
  /// - Parameter metrics: counts the requests to the providers.
  func providers(metrics: GatewayMetrics? = nil) -> [SignInProvider] {
    let random = SystemRandomSource()
    let threads = ProviderThreads(Mutex())
    return settings.providers.map { provider in
      let configuration = provider.configuration
      let transport = CurlTransport(
        CurlTransport.Options(
          allowsLoopbackHTTP: configuration.allowsLoopbackHTTP, caFile: configuration.caFile,
          totalTimeout: .init(Self.providerMilliseconds)))
      return SignInProvider(
        name: provider.name, label: provider.label, configuration: configuration,
        dialect: provider.dialect,
        transport: metrics.map {
          MeasuredTransport(transport, of: provider.name, metrics: $0, clock: clock)
        } ?? transport, clock: clock, random: random,
        threads: threads, makeStore: { [clock] in MemoryTokenStore(clock: clock) },
        makeLock: { Mutex() })
    }
  }

  /// Makes the pages, with the operator's theme and texts.
  /// - Throws: `.configuration` with the invalid file or key.
  func pages() throws(EnrollError) -> Pages {
    let theme: Theme
    do throws(ThemeError) {
      theme = try Theme(json: settings.theme ?? JSONObject([("product", .string("Your account"))]))
    } catch {
      throw EnrollError(.configuration, "theme: \(error.message)", field: "theme")
    }
    var texts: [[UInt8]] = []
    for path in settings.textFiles {
      do throws(EnrollError) {
        texts.append(try UserDirectories.readConfiguration(at: path, called: path).serialized())
      } catch {
        throw EnrollError(error.code, "textFiles: \(error.message)", field: "textFiles")
      }
    }
    do throws(CatalogueError) {
      var languages = try Languages()
      for file in texts { try languages.add(json: file) }
      return Pages(theme: theme, languages: languages)
    } catch {
      throw EnrollError(.configuration, "textFiles: \(error.message)", field: "textFiles")
    }
  }

  /// Migrates the database if necessary.
  ///
  /// - Returns: the versions that were applied.
  func migrated(_ store: any AccountStore) throws(EnrollError) -> [Int64] {
    do throws(StoreFailure) { return try store.migrate() } catch { throw Self.refusal(error) }
  }

  /// Checks that root does not create the database.
  /// - Throws: `.configuration` if root would create a database for another user, who could not open it.
  func checkDatabaseOwner() throws(EnrollError) {
    guard geteuid() == 0, let path = try missingDatabase() else { return }
    var folder = stat()
    guard stat(Self.folder(of: path), &folder) == 0, folder.st_uid != 0 else { return }
    let name = getpwuid(folder.st_uid).map { String(cString: $0.pointee.pw_name) }
    let user = name ?? "'#\(folder.st_uid)'"
    throw EnrollError(
      .configuration,
      "database: \(path) would belong to root, and its folder belongs to the user \(user). The gateway, as that user, could not "
        + "open it. Nothing was made. Run the command as that user: sudo -u \(user) enroll-gateway migrate …",
      field: "database")
  }

  /// Checks the database, and creates nothing.
  /// - Returns: a remark about a state that is not an error; nil if there is no such state.
  func databaseState() throws(EnrollError) -> String? {
    if let path = try missingDatabase() {
      do throws(StoreFailure) { try SQLiteStore.checkFolder(Self.folder(of: path), of: path) } catch {
        throw Self.refusal(error)
      }
      return "\(path) is not there yet; serve makes it"
    }
    let store = try store()
    defer { store.close() }
    return try schemaState(store)
  }

  /// Opens the store of a gateway that has already run.
  /// - Throws: `.configuration` if there is no database, or if the database has an older schema.
  func existingStore() throws(EnrollError) -> any AccountStore {
    if let path = try missingDatabase() {
      throw EnrollError(
        .configuration,
        "database: there is no file \(path). The command expected the database of a gateway. serve makes it.",
        field: "database")
    }
    let store = try store()
    do throws(StoreFailure) { try store.check() } catch {
      // A newer schema is compatible.
      if case .schema(let found, let expected) = error, found > expected { return store }
      store.close()
      throw Self.refusal(error)
    }
    return store
  }

  func schemaState(_ store: any AccountStore) throws(EnrollError) -> String? {
    do throws(StoreFailure) { try store.check() } catch {
      guard case .schema(let found, let expected) = error else { throw Self.refusal(error) }
      if found == 0 { return "the database has no tables yet; serve makes them" }
      return found < expected
        ? "the database has schema \(found); serve brings it to \(expected)"
        : "the database has schema \(found) of a newer enroll-gateway; this one knows \(expected) and works with it"
    }
    return nil
  }

  private var sqlitePath: String? {
    settings.database.utf8.starts(with: "sqlite:".utf8)
      ? String(Substring(settings.database.utf8.dropFirst(7))) : nil
  }

  /// The path of a SQLite database that does not exist yet, in a folder that exists; nil for any other database.
  /// - Throws: `.configuration` for a path where the store makes no database, such as `:memory:`.
  private func missingDatabase() throws(EnrollError) -> String? {
    guard let path = sqlitePath else { return nil }
    do throws(StoreFailure) { try SQLiteStore.checkPath(path) } catch { throw Self.refusal(error) }
    guard access(path, F_OK) != 0, enroll_posix_errno() == ENOENT else { return nil }
    return access(Self.folder(of: path), F_OK) == 0 ? path : nil
  }

  private static func folder(of path: String) -> String {
    path.utf8.lastIndex(of: 0x2F).map { String(path[...$0]) } ?? "."
  }

  private static func refusal(_ failure: StoreFailure) -> EnrollError {
    EnrollError(.configuration, "database: \(failure.message)", field: "database")
  }

  /// The settings of the server for clients.
  /// - Throws: `.configuration` for an invalid listening address, or for an invalid address of a trusted
  ///   proxy.
  func serverSettings() throws(EnrollError) -> ServerSettings {
    let (address, port) = try Self.address(settings.listen, "listen")
    var options = ServerSettings(addresses: [address], port: port, publicOrigin: settings.publicURL)
    options.trustedProxies = settings.trustedProxies
    // The server accepts every method, and the gateway refuses wrong methods: the gateway knows the methods of each
    // path, and answers programs with JSON.
    options.methods = Set(WebRequest.Method.allCases)
    options.database.threads = settings.databaseConnections
    options.provider.threads = ProviderThreads.count
    options.probes = Gateway.probePaths
    do throws(ServerError) { try HTTPServer.check(options) } catch { throw Self.refusal(error) }
    return options
  }

  /// Splits an address and its port; an IPv6 address is in brackets.
  static func address(_ text: String, _ key: String) throws(EnrollError) -> (address: String, port: Int) {
    guard let colon = text.utf8.lastIndex(of: 0x3A),
      let port: Int = ASCII.number(text[text.utf8.index(after: colon)...])
    else {
      throw EnrollError(
        .configuration, "\(key): expected an address and a port, such as 127.0.0.1:8080", field: key)
    }
    let address = String(text[..<colon])
    guard address.utf8.first == 0x5B, address.utf8.last == 0x5D else { return (address, port) }
    return (String(address.dropFirst().dropLast()), port)
  }

  /// The settings of the server for metrics; nil if no metrics are configured.
  /// - Throws: `.configuration` for an address that is not a loopback address.
  func metricsSettings() throws(EnrollError) -> ServerSettings? {
    guard let text = settings.metrics else { return nil }
    let (address, port) = try Self.address(text, "metrics")
    guard HTTPServer.isLoopback(address), (1...65_535).contains(port) else {
      throw EnrollError(
        .configuration,
        "metrics: expected a loopback address in numbers and a port, such as 127.0.0.1:9464 or [::1]:9464. "
          + "Metrics have no password: let a proxy of this machine pass them on to others.",
        field: "metrics")
    }
    let listen = try Self.address(settings.listen, "listen")
    guard
      listen.port != port
        || ![address, "0.0.0.0", "::"].contains(where: { ASCII.equals($0, listen.address) })
    else {
      throw EnrollError(
        .configuration, "metrics: expected another port than that of listen, \(settings.listen)",
        field: "metrics")
    }
    var options = ServerSettings(addresses: [address], port: port, publicOrigin: "http://\(text)")
    // A page of another site whose name resolves to this address (DNS rebinding) is refused because of its `Host`
    // header.
    options.hosts = .loopback
    options.methods = [.get]
    options.limits.bodyBytes = 0
    options.eventLoops = 1
    options.limits.connections = MetricsPage.mostConnections
    options.limits.evictsIdle = true
    return options
  }

  /// Makes a server for an application.
  /// - Parameter key: the key of the address, for an error.
  static func server(
    _ application: any WebApplication, _ settings: ServerSettings, _ key: String = "listen"
  ) throws(EnrollError) -> HTTPServer {
    do throws(ServerError) { return try HTTPServer.start(settings, application) } catch {
      throw refusal(error, key)
    }
  }

  private static func refusal(_ error: ServerError, _ listen: String = "listen") -> EnrollError {
    let key: String
    switch error.setting {
    case .publicOrigin: key = "publicUrl"
    case .addresses: key = listen
    case .trustedProxies: key = "trustedProxies"
    case .system: return EnrollError(.outOfMemory, error.description)
    }
    return EnrollError(.configuration, "\(key): \(error.description)", field: key)
  }

  /// The timeout of requests to providers and the directory, which is short because a user waits for the answer.
  static let providerMilliseconds: Int64 = 10_000
}
