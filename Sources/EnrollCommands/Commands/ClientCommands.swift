// Commands that open and close clients, and the events of clients. Events are sent only to subscribers.

import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let clientCommands = [
    Command(
      "client.open", .blocking, "Opens one account at one provider. Sends no request.", client: false,
      takes: [
        .optional(
          "configuration", .configuration.as("The configuration; give this or configurationName.")),
        .optional(
          "configurationName",
          .text("The NAME of a file NAME.json in $XDG_CONFIG_HOME/enrollkit.", maximumBytes: 64)),
        .optional("store", .store), .keys,
        .transport,
        .optional(
          "account",
          .text("The name of the account: one set of tokens in the store.", maximumBytes: TextLimits.account),
          default: .string("default")),
        .optional("platform", platform),
        .optional(
          "waitForPlatform",
          Schema(.boolean, "Whether calls about the registration wait for platform.ready."),
          default: .bool(false)),
        .optional(
          "renewInBackground",
          Schema(
            .boolean,
            "Whether tokens are renewed in the background, shortly before they are due, until client.close."
          ),
          default: .bool(false)),
      ], gives: .object([.required("client", .clientHandle)]),
      fails: CommandErrors(.store, also: .configuration, .notFound, .json)
    ) { call throws(EnrollError) in
      let session = try call.openSession()
      let configuration = try Configuration(json: try configuration(call, session))
      let store: ClientOptions.StoreChoice =
        call.wantsMemoryStore ? .memory : .directory(try call.storePath())
      var options = ClientOptions(configuration: configuration, store: store)
      if call.wantsMemoryStore, call.object("keys") != nil {
        throw EnrollError(.invalidArgument, "keys: a store in memory takes no keys", field: "keys")
      }
      let handle = session.newHandle()
      options.keys = try call.keyPlan(for: handle)
      options.transport = try call.transport(caFile: configuration.caFile, for: handle)
      options.clock = session.environment.clock
      let log = session.environment.log.map { ClientLog($0, of: handle) }
      options.log = log
      if let account = call.text("account") { options.account = try AccountName(account) }
      if let facts = call.object("platform") { options.platform = Platform(facts) }
      options.isPlatformReady = !call.flag("waitForPlatform")
      options.renewsInBackground = call.flag("renewInBackground")
      try session.add(try Client(options), handle: handle, opensAside: options.asksForKey, log: log)
      return .object([("client", .string(handle))])
    },
    Command(
      "platform.ready", method: "platformReady", .memory,
      "Reports that the host's platform is ready (Cordova's deviceready)."
    ) { call throws(EnrollError) in
      try call.openClient().platformReady()
      return .object([])
    },
    Command(
      "client.close", .memory,
      "Closes the client. Its pending calls end with cancelled. The tokens of a renewal that was sent are still stored."
    ) { call throws(EnrollError) in
      try call.openSession().close(try call.openHandle())
      return .object([])
    },
  ]

  private static let platform = Schema.object(
    [
      .optional(
        "native",
        Schema(.boolean, "False: the platform has no external browser; the stand-in token is used."),
        default: .bool(true)),
      .optional("type", .text("The kind of device, in the host's own words.")),
      .optional("width", Schema(.integer(1...1_000_000), "The width of the screen in pixels.")),
      .optional("height", Schema(.integer(1...1_000_000), "The height of the screen in pixels.")),
      .optional("appVersion", .text("The host app's version.")),
      .optional("deviceId", .text("The host's id for the device.").sensitive),
    ], "The host's description of the device."
  ).named("Platform")

  private static func configuration(_ call: Invocation, _ session: Session) throws(EnrollError) -> JSON {
    switch (call.object("configuration"), call.text("configurationName")) {
    case (let object?, nil): return .object(object)
    case (nil, let name?): return try session.environment.configuration(name)
    case (nil, nil), (.some, .some):
      throw EnrollError(
        .invalidArgument, "configuration: expected exactly one of configuration and configurationName",
        field: "configuration")
    }
  }
}

extension Schema.Property {
  static let transport = Schema.Property.optional(
    "transport",
    .words(
      "TransportChoice", ["libcurl", "host"],
      "The HTTP transport. host: the host sends the requests, through host.http.send."),
    default: .string("libcurl"))
}

extension Invocation {
  /// The transport that the parameter `transport` chooses; nil for EnrollKit's own transport.
  /// - Parameter client: the handle of the client that is opened; nil for a command without a client.
  func transport(caFile: String?, for client: String?) throws(EnrollError) -> (any Transport)? {
    guard text("transport").map({ ASCII.equals($0, "host") }) ?? false else { return nil }
    guard let host = session?.environment.host else {
      throw EnrollError(
        .unsupported, "transport: this interface cannot ask its host to send HTTP requests",
        field: "transport")
    }
    guard caFile == nil else {
      throw EnrollError(
        .invalidArgument, "transport: caFile has no effect on the host's transport; leave one of them out",
        field: "transport")
    }
    return HostHTTP(host, for: client)
  }
}

extension Platform {
  fileprivate init(_ facts: JSONObject) {
    self.init(
      isNative: facts["native"]?.bool ?? true, type: facts["type"]?.string, width: facts["width"]?.integer,
      height: facts["height"]?.integer, appVersion: facts["appVersion"]?.string,
      deviceID: facts["deviceId"]?.string)
  }
}

extension ClientOptions {
  /// Whether opening the store may ask the user or another program for the key, or derive the key. If so, a thread that
  /// must not wait must not open the store.
  fileprivate var asksForKey: Bool {
    guard case .directory = store else { return false }
    if case .file = keys.provider { return false }
    return true
  }
}

extension CommandTable {
  static let eventCommands = [
    Command(
      "events.subscribe", .memory, "Starts the client's events. A second call changes nothing.",
      gives: .object([
        .required(
          "events",
          Schema(.list(.text("An event's name."), maximumCount: 1000), "The events that may arrive."))
      ])
    ) { call throws(EnrollError) in
      try call.openHandle().subscribe()
      return .object([("events", .array(EventKind.all.map { .string($0.name) }))])
    },
    Command(
      "events.unsubscribe", .memory,
      "Stops the client's events. An event that is being sent may still arrive."
    ) { call throws(EnrollError) in
      try call.openHandle().unsubscribe()
      return .object([])
    },
  ]
}
