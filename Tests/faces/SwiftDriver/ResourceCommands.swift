// Commands about resources, which need no client.

import EnrollKit

enum ResourceCommands {
  static func discover(_ parameters: JSON) async throws(EnrollError) -> JSON {
    let found = try await EnrollClient.discoverResource(
      parameters["resource"]?.string ?? "", issuer: parameters["issuer"]?.string,
      challenge: parameters["challenge"]?.string,
      allowsLoopbackHTTP: parameters["allowLoopbackHTTP"]?.bool ?? false)
    return .object([
      ("resource", .string(found.resource)), ("metadataUri", found.metadataURI.map { .string($0) }),
      ("name", found.name.map { .string($0) }),
      ("authorizationServers", .array(found.authorizationServers.map { .string($0) })),
      ("issuer", .string(found.issuer)), ("authorizationEndpoint", .string(found.authorizationEndpoint)),
      ("scopes", found.scopes.map { .array($0.map { .string($0) }) }),
      ("canRegister", .bool(found.canRegister)),
      ("takesClientMetadataDocuments", .bool(found.takesClientMetadataDocuments)),
      ("requiresDPoP", .bool(found.requiresDPoP)), ("discovery", .string(found.text)),
    ])
  }

  static func register(_ parameters: JSON) async throws(EnrollError) -> JSON {
    var request = ResourceRequest(
      resource: parameters["resource"]?.string ?? "", issuer: parameters["issuer"]?.string ?? "",
      redirectURI: parameters["redirectUri"]?.string ?? "")
    request.clientName = parameters["clientName"]?.string
    request.scopes = parameters["scopes"]?.array?.compactMap { $0.string }
    request.clientID = parameters["clientId"]?.string
    request.clientMetadataURI = parameters["clientMetadataUri"]?.string
    request.again = parameters["again"]?.bool ?? false
    request.holdsPort = parameters["holdsPort"]?.bool ?? false
    request.challenge = parameters["challenge"]?.string
    request.discovery = try parameters["discovery"]?.string.map { text throws(EnrollError) in
      try ResourceDiscovery(text: text, allowsLoopbackHTTP: true)
    }
    request.previousIssuer = parameters["previousIssuer"]?.string
    let client = try await EnrollClient.registerResource(
      request, store: .directory(parameters["store"]?.string ?? ""),
      allowsLoopbackHTTP: parameters["allowLoopbackHTTP"]?.bool ?? false)
    return .object([
      ("configuration", .object(client.keys)), ("origin", .string(client.origin.rawValue)),
      ("isNew", .bool(client.isNew)),
    ])
  }
}
