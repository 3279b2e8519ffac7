// Opening and closing clients.

import EnrollCore
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let clientCommands = [
    Command(
      "client.open", .blocking, "Opens one account at one provider. Reads no network.", client: false,
      takes: [
        .optional(
          "configuration", .configuration.as("The provider and the client; this or configurationName.")),
        .optional(
          "configurationName", .text("A file NAME.json in $XDG_CONFIG_HOME/enrollkit.", maximumBytes: 64)),
        .optional("store", .store), .keys,
        .optional(
          "transport",
          .words(
            "TransportChoice", [ownTransport, hostTransport],
            "Who sends HTTP; host: the host, by host.http.send."),
          default: .string(ownTransport)),
        .optional(
          "account", .text("Names one set of tokens.", maximumBytes: 128), default: .string("default")),
        .optional("platform", platform),
        .optional(
          "waitForPlatform",
          Schema(.boolean, "Calls that ask for the registration wait until platform.ready."),
          default: .bool(false)),
        .optional(
          "renewInBackground",
          Schema(
            .boolean,
            "Tokens are renewed a little before they are due, whether anybody asks or not, until client.close."
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
        throw EnrollError(.invalidArgument, "keys: a store in memory has none", field: "keys")
      }
      let handle = session.newHandle()
      options.keys = try call.keyPlan(for: handle)
      options.transport = try transport(call, session, configuration, handle)
      options.log = session.environment.log.map { ClientLog($0, of: handle) }
      if let account = call.text("account") { options.account = try AccountName(account) }
      if let facts = call.object("platform") { options.platform = Platform(facts) }
      options.isPlatformReady = !call.flag("waitForPlatform")
      options.renewsInBackground = call.flag("renewInBackground")
      try session.add(try Client(options), handle: handle, opensAside: options.asksForKey)
      return .object([("client", .string(handle))])
    },
    Command(
      "platform.ready", method: "platformReady", .memory,
      "Says that the host's platform is ready (Cordova's deviceready)."
    ) { call throws(EnrollError) in
      try call.openClient().platformReady()
      return .object([])
    },
    Command(
      "client.close", .memory,
      "Closes the client; calls under way in it end with cancelled. A renewal that was sent is stored all the same."
    ) { call throws(EnrollError) in
      try call.openSession().close(try call.openHandle())
      return .object([])
    },
  ]

  private static let ownTransport = "libcurl"
  private static let hostTransport = "host"

  /// nil for our own.
  private static func transport(
    _ call: Invocation, _ session: Session, _ configuration: Configuration, _ handle: String
  ) throws(EnrollError) -> (any Transport)? {
    guard call.text("transport").map({ ASCII.equals($0, hostTransport) }) ?? false else { return nil }
    guard let host = session.environment.host else {
      throw EnrollError(.unsupported, "transport: this face cannot ask its host for HTTP", field: "transport")
    }
    guard configuration.caFile == nil else {
      throw EnrollError(
        .invalidArgument, "transport: with caFile our own was expected; the host trusts what it chooses",
        field: "transport")
    }
    return HostHTTP(host, for: handle)
  }

  private static let platform = Schema.object(
    [
      .optional(
        "native", Schema(.boolean, "False: no external browser is to be had, the stand-in token is used."),
        default: .bool(true)),
      .optional("type", .text("The host's word for the kind of device.")),
      .optional("width", Schema(.integer(1...1_000_000), "Of the screen, in pixels.")),
      .optional("height", Schema(.integer(1...1_000_000), "Of the screen, in pixels.")),
      .optional("appVersion", .text("The host's own version.")),
      .optional("deviceId", .text("An id that the host has for the device.").sensitive),
    ], "What the host says about the device."
  ).named("Platform")

  private static func configuration(_ call: Invocation, _ session: Session) throws(EnrollError) -> JSON {
    switch (call.object("configuration"), call.text("configurationName")) {
    case (let object?, nil): return .object(object)
    case (nil, let name?): return try session.environment.configuration(name)
    case (nil, nil), (.some, .some):
      throw EnrollError(
        .invalidArgument, "configuration: exactly one of configuration and configurationName was expected",
        field: "configuration")
    }
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
  /// Whether somebody has to be asked, or something worked out, before the store opens: no thread that must not wait can
  /// look into it.
  fileprivate var asksForKey: Bool {
    guard case .directory = store else { return false }
    if case .file = keys.provider { return false }
    return true
  }
}
