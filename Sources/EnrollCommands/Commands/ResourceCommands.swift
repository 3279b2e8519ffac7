// The commands that make a configuration from a resource, before there is a client (flows.md §12).

import EnrollRules
import EnrollCrypto
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let resourceCommands = [
    Command(
      "resource.discover", method: "discoverResource", .blocking,
      "Finds the authorization server that issues tokens for a resource (an API, an MCP server). Registers nothing and sends no token.",
      client: false,
      takes: [
        .resource,
        .optional(
          "issuer",
          .uri(
            "The authorization server to choose from those of the resource. The first one by default. For a resource without metadata, name its server."
          )), .challenge,
      ] + access, gives: ResourceDiscovery.schema,
      fails: CommandErrors(.network, .timeout), source: "RFC 9728, RFC 8414, OpenID Connect Discovery"
    ) { call throws(EnrollError) in
      let resources = try resources(call)
      return try resources.discover(
        call.requiredText("resource"), issuer: call.text("issuer"), challenge: call.text("challenge"),
        until: call.until(resources), cancellation: call.cancellation
      ).json
    },
    Command(
      "resource.register", method: "registerResource", .blocking,
      "Makes a configuration for a resource: with your client id, with your client id metadata document, or with a client that it registers once and keeps.",
      client: false,
      takes: [
        .resource,
        .required(
          "issuer",
          .uri(
            "The authorization server that you showed to the user: issuer of resource.discover. Any other is rejected."
          )),
        .required("redirectUri", .uri("The redirect URI, as in a configuration.")),
        .optional("clientName", .text("The app's name, for the server's pages.")),
        .optional(
          "scopes",
          Schema(
            .list(.text("A scope."), maximumCount: 64),
            "The scopes to request; if challenge has insufficient_scope, its scopes are added. By default those of challenge, or else those that the resource lists; in addition offline_access and openid if the server lists them."
          )),
        .optional(
          "clientId",
          .text(
            "The client id, if the app is already registered with the server.",
            maximumBytes: TextLimits.clientID)),
        .optional(
          "clientSecret", .text("The secret of clientId.", maximumBytes: TextLimits.clientSecret).sensitive),
        .optional(
          "clientMetadataUri",
          .uri("The https URL of the app's client id metadata document, for servers that accept one.")),
        .optional(
          "again",
          Schema(
            .boolean,
            "Whether to register again although a client is stored. A client that the server refused at a renewal (invalid_client, unauthorized_client) is registered again without it; pass true if a sign-in was refused."
          ), default: .bool(false)),
        .optional(
          "holdsPort",
          Schema(
            .boolean,
            "Whether your program listens at the port of redirectUri itself. By default the port is bound during the first registration, which fails with busy if another program has it."
          ), default: .bool(false)), .challenge,
        .optional(
          "discovery",
          .text(
            "discovery of resource.discover: what it found is used, and nobody is asked for it again.",
            maximumBytes: 1 << 20)),
        .optional(
          "previousIssuer",
          .uri(
            "The server that the resource named before, if it has moved to another: the client that was registered there is deleted."
          )), .optional("store", .store), .keys,
      ] + access, gives: ResourceClient.schema,
      fails: CommandErrors(.network, .store, .timeout, also: .oauth),
      source: "RFC 7591, RFC 9728, RFC 8707"
    ) { call throws(EnrollError) in
      let resources = try resources(call)
      return try resources.register(
        try ResourceRequest(call), store: try store(call), keys: try call.keyPlan(),
        until: call.until(resources), cancellation: call.cancellation
      ).json
    },
  ]

  private static let access: [Schema.Property] = [
    .optional(
      "allowLoopbackHTTP", Schema(.boolean, "Whether http to servers on this machine is allowed."),
      default: .bool(false)),
    .optional(
      "caFile",
      .text(
        "A PEM file with the certificate authorities to trust instead of the system's.",
        maximumBytes: TextLimits.certificateFile)),
    .transport, .timeout,
  ]

  private static func resources(_ call: Invocation) throws(EnrollError) -> Resources {
    let caFile = call.text("caFile")
    return Resources(
      transport: try call.transport(caFile: caFile, for: nil),
      allowsLoopbackHTTP: call.flag("allowLoopbackHTTP"), caFile: caFile,
      clock: call.session?.environment.clock,
      log: call.session?.environment.log.map { ClientLog(ofOneCall: $0) })
  }

  private static func store(_ call: Invocation) throws(EnrollError) -> ClientOptions.StoreChoice {
    guard !call.wantsMemoryStore else {
      throw EnrollError(
        .invalidArgument,
        "store: a store in memory ends with the call; expected the directory in which the client is kept",
        field: "store")
    }
    return .directory(try call.storePath())
  }
}

extension Invocation {
  fileprivate func until(_ resources: Resources) -> Instant {
    guard let seconds = integer("timeout") else {
      return deadline ?? resources.deadline(afterSeconds: Invocation.defaultTimeoutSeconds)
    }
    let own = resources.deadline(afterSeconds: seconds)
    return deadline.map { min($0, own) } ?? own
  }
}

extension Schema.Property {
  fileprivate static let resource = Schema.Property.required(
    "resource", .uri("The URI of the resource: https, without a fragment."))

  fileprivate static let challenge = Schema.Property.optional(
    "challenge",
    .text(
      "The value of the header WWW-Authenticate of the resource's 401 or 403, if you have one (several joined by commas). It says where the metadata is and which scopes are needed; with insufficient_scope these are added to the earlier ones.",
      maximumBytes: TextLimits.challenge))
}

extension ResourceRequest {
  fileprivate init(_ call: Invocation) throws(EnrollError) {
    self.init(
      resource: try call.requiredText("resource"), issuer: try call.requiredText("issuer"),
      redirectURI: try call.requiredText("redirectUri"))
    clientName = call.text("clientName")
    scopes = call.parameters["scopes"]?.texts
    clientID = call.text("clientId")
    clientSecret = call.text("clientSecret").map { Secret($0) }
    clientMetadataURI = call.text("clientMetadataUri")
    challenge = call.text("challenge")
    discovery = try call.text("discovery").map { text throws(EnrollError) in
      try ResourceDiscovery(text: text, allowsLoopbackHTTP: call.flag("allowLoopbackHTTP"))
    }
    previousIssuer = call.text("previousIssuer")
    again = call.flag("again")
    holdsPort = call.flag("holdsPort")
  }
}

extension ResourceDiscovery {
  fileprivate static let schema = Schema.object(
    [
      .required(
        "resource",
        .uri("What the tokens are for: the resource, or its host if only the host's metadata describes it.")),
      .optional("metadataUri", .uri("The URL of the resource's metadata; absent if it has none.")),
      .optional("name", .text("The resource's own name for itself. It is not verified.")),
      .required(
        "authorizationServers",
        Schema(
          .list(.uri("An issuer."), maximumCount: 16),
          "The authorization servers that the resource names; without metadata, the one that is used.")),
      .required("issuer", .uri("The chosen authorization server. Show it to the user before you continue.")),
      .required("authorizationEndpoint", .uri("The page to which the user will be sent.")),
      .optional(
        "scopes",
        Schema(
          .list(.text("A scope."), maximumCount: 64),
          "The scopes that the challenge names, or else those that the resource lists.")),
      .required("canRegister", Schema(.boolean, "Whether the server registers clients (RFC 7591).")),
      .required(
        "takesClientMetadataDocuments",
        Schema(
          .boolean, "Whether the server accepts the URL of a client id metadata document as a client id.")),
      .required(
        "requiresDPoP",
        Schema(.boolean, "Whether the resource accepts only tokens that are bound to a key (RFC 9449).")),
      .required(
        "discovery",
        .text(
          "All of this as one text for resource.register, which then asks nobody again.",
          maximumBytes: 1 << 20)),
    ], "The authorization server of a resource."
  ).named("ResourceDiscovery")

  fileprivate var json: JSON {
    .object([
      ("resource", .string(resource)), ("metadataUri", metadataURI.map { .string($0) }),
      ("name", name.map { .string($0) }),
      ("authorizationServers", .array(authorizationServers.map { .string($0) })),
      ("issuer", .string(issuer)), ("authorizationEndpoint", .string(authorizationEndpoint)),
      ("scopes", scopes.map { .array($0.map { .string($0) }) }), ("canRegister", .bool(canRegister)),
      ("takesClientMetadataDocuments", .bool(takesClientMetadataDocuments)),
      ("requiresDPoP", .bool(requiresDPoP)), ("discovery", .string(text)),
    ])
  }
}

extension ResourceClient {
  fileprivate static let schema = Schema.object(
    [
      .required(
        "configuration",
        Schema(.claims, "A configuration for client.open. It may contain the client's secret.").sensitive),
      .required(
        "origin",
        .words(
          "ClientOrigin", ClientOrigin.allCases.map { $0.rawValue },
          "How the app became a client. configured: by clientId. metadataDocument: by clientMetadataUri. registered: by a registration (RFC 7591)."
        )),
      .required("isNew", Schema(.boolean, "Whether this call registered the client.")),
    ], "A client for a resource."
  ).named("ResourceClient")

  fileprivate var json: JSON {
    .object([
      ("configuration", .object(keys)), ("origin", .string(origin.rawValue)), ("isNew", .bool(isNew)),
    ])
  }
}
