// From the configuration file to what the gateway is made of. Everything that can be wrong is found here, before a request comes.

#if Gateway
  import CPosix
  import EnrollCore
  import EnrollCrypto
  import EnrollGateway
  import EnrollGatewayHost
  import EnrollGatewayPages
  import EnrollGatewayStore
  import EnrollHost
  import EnrollJSON
  import EnrollPosix
  import EnrollStore

  /// The parts of a configuration, made.
  struct Setup {
    let settings: GatewaySettings
    let clock = SystemClock()

    /// - Parameter path: the configuration file.
    /// - Throws: `.notFound`, `.configuration`.
    init(path: String) throws(EnrollError) {
      let json = try UserDirectories.readConfiguration(at: path, called: path)
      settings = try GatewaySettings(json: try Self.withSecrets(json))
    }

    /// Secrets come from files: a provider's `clientSecretFile` becomes its `clientSecret`.
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

    /// - Parameter name: of the secret; its file is named by the key `nameFile`.
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

    /// - Throws: `.configuration` if others than the owner may read the file.
    func keys() throws(EnrollError) -> KeyRing {
      let json = try UserDirectories.readConfiguration(at: settings.keyFile, called: settings.keyFile)
      var status = stat()
      guard lstat(settings.keyFile, &status) == 0, status.st_mode & 0o077 == 0 else {
        throw EnrollError(
          .configuration,
          "the key file \(settings.keyFile) may be read by others than its owner; run chmod 600 \(settings.keyFile)",
          field: "keys")
      }
      return try KeyRing(json: json)
    }

    /// - Throws: `.configuration` for a database that is of neither kind; what the store says.
    func store() throws(EnrollError) -> any AccountStore {
      let text = settings.database
      do throws(StoreFailure) {
        if text.utf8.starts(with: "sqlite:".utf8) {
          return try SQLiteStore(path: String(text.utf8.dropFirst(7)) ?? "")
        }
        if text.utf8.starts(with: "postgresql:".utf8) || text.utf8.starts(with: "postgres:".utf8) {
          return try PostgreSQLStore(text, connections: settings.databaseConnections)
        }
      } catch {
        throw EnrollError(.configuration, "database: \(error.message)", field: "database")
      }
      throw EnrollError(
        .configuration, "database: expected sqlite:PATH or a postgresql:// URL", field: "database")
    }

    func providers() -> [SignInProvider] {
      let random = SystemRandomSource()
      return settings.providers.map { provider in
        let configuration = provider.configuration
        let transport = CurlTransport(
          CurlTransport.Options(
            allowsLoopbackHTTP: configuration.allowsLoopbackHTTP, caFile: configuration.caFile,
            totalTimeout: .init(Self.providerMilliseconds)))
        return SignInProvider(
          name: provider.name, label: provider.label, configuration: configuration,
          dialect: provider.dialect, transport: transport, clock: clock, random: random,
          makeStore: { [clock] in MemoryTokenStore(clock: clock) },
          makeLock: { Mutex() })
      }
    }

    /// - Throws: `.configuration`, by the file or the key at fault.
    func pages() throws(EnrollError) -> Pages {
      let theme: Theme
      do throws(ThemeError) {
        let json = settings.theme?.object ?? JSONObject([("product", .string("Your account"))])
        theme = try Theme(json: json)
      } catch {
        throw EnrollError(.configuration, "theme: \(error.message)", field: "theme")
      }
      var texts: [[UInt8]] = []
      for path in settings.textFiles {
        texts.append(try UserDirectories.readConfiguration(at: path, called: path).serialized())
      }
      do throws(CatalogueError) {
        var languages = try Languages()
        for file in texts { try languages.add(json: file) }
        return Pages(theme: theme, languages: languages)
      } catch {
        throw EnrollError(.configuration, "texts: \(error.message)", field: "texts")
      }
    }

    /// Migrated, where that is needed.
    func migrated(_ store: any AccountStore) throws(EnrollError) -> [Int64] {
      do throws(StoreFailure) { return try store.migrate() } catch { throw Self.refusal(error) }
    }

    func checked(_ store: any AccountStore) throws(EnrollError) {
      do throws(StoreFailure) { try store.check() } catch { throw Self.refusal(error) }
    }

    private static func refusal(_ failure: StoreFailure) -> EnrollError {
      EnrollError(.configuration, "database: \(failure.message)", field: "database")
    }

    /// - Throws: `.configuration` for an address that is none.
    func hostOptions() throws(EnrollError) -> HostOptions {
      let text = settings.listen
      guard let colon = text.utf8.lastIndex(of: 0x3A), let port = Int(text[text.utf8.index(after: colon)...])
      else {
        throw EnrollError(
          .configuration, "listen: expected an address and a port, such as 127.0.0.1:8080", field: "listen")
      }
      var address = String(text[..<colon])
      if address.utf8.first == 0x5B, address.utf8.last == 0x5D {
        address = String(address.dropFirst().dropLast())
      }
      var options = HostOptions(addresses: [address], port: port, publicOrigin: settings.publicURL)
      options.trustedProxies = settings.trustedProxies
      options.database.threads = settings.databaseConnections
      return options
    }

    static func host(_ gateway: Gateway, _ options: HostOptions) throws(EnrollError) -> HTTPHost {
      do throws(HostError) { return try HTTPHost.start(options, gateway) } catch {
        throw EnrollError(.configuration, "listen: \(error.description)", field: "listen")
      }
    }

    /// A person waits: a provider that takes longer is unavailable.
    static let providerMilliseconds: Int64 = 10_000
  }
#endif
