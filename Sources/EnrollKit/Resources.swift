// Makes the configuration for a resource. The functions need no client.

import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollPosix

extension EnrollClient {
  /// Finds the authorization server that issues tokens for a resource: an API, an MCP server (RFC 9728, RFC 8414).
  /// Requests public documents only: it registers nothing and sends no token. Show the user the `issuer` of the result
  /// before you continue.
  /// - Parameters:
  ///   - resource: the resource's https URI, without a fragment.
  ///   - issuer: one of the resource's servers; nil for the first server. With an issuer, the resource needs no
  ///     metadata.
  ///   - challenge: the value of `WWW-Authenticate` of the resource's 401 or 403, if you have one: it says where the
  ///     metadata is, and which scopes are needed.
  ///   - allowsLoopbackHTTP: whether to allow http to servers on this machine.
  ///   - caFile: a PEM file with the authorities that libcurl trusts instead of the system's.
  ///   - transport: the host's own transport; nil for libcurl.
  ///   - timeout: how long it may take.
  /// - Throws: `.unsupported` for a resource that names no server; `.responseInvalid` for metadata of another resource;
  ///   `.issuerMismatch`; `.network` and similar errors.
  public static func discoverResource(
    _ resource: String, issuer: String? = nil, challenge: String? = nil, allowsLoopbackHTTP: Bool = false,
    caFile: String? = nil, transport: (any Transport)? = nil, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> ResourceDiscovery {
    let resources = Resources(transport: transport, allowsLoopbackHTTP: allowsLoopbackHTTP, caFile: caFile)
    return try await offload(resources, timeout) { deadline, cancellation throws(EnrollError) in
      try resources.discover(
        resource, issuer: issuer, challenge: challenge, until: deadline, cancellation: cancellation)
    }
  }

  /// Makes a configuration for a resource: with your client id, with your client id metadata document, or with a client
  /// that is registered once (RFC 7591) and kept in the store, sealed like the tokens.
  /// - Parameters:
  ///   - request: the resource, the server that the user agreed to, and the app.
  ///   - store: the store in which to keep a registered client. Open your next client with the same store.
  ///   - keys: the key provider of a store that is a directory.
  ///   - allowsLoopbackHTTP: whether to allow http to servers on this machine.
  ///   - caFile: a PEM file with the authorities that libcurl trusts instead of the system's.
  ///   - transport: the host's own transport; nil for libcurl.
  ///   - timeout: how long it may take.
  /// - Throws: `.issuerMismatch` if the resource no longer names the server; `.unsupported` if the server accepts no
  ///   new clients; `.oauth` if it refuses the registration; as
  ///   ``discoverResource(_:issuer:challenge:allowsLoopbackHTTP:caFile:transport:timeout:)``; `.storeLocked` and similar errors.
  public static func registerResource(
    _ request: ResourceRequest, store: Store, keys: KeyPlan = .file, allowsLoopbackHTTP: Bool = false,
    caFile: String? = nil, transport: (any Transport)? = nil, timeout: Duration = defaultTimeout
  ) async throws(EnrollError) -> ResourceClient {
    let resources = Resources(transport: transport, allowsLoopbackHTTP: allowsLoopbackHTTP, caFile: caFile)
    return try await offload(resources, timeout) { deadline, cancellation throws(EnrollError) in
      try resources.register(
        request, store: store.choice, keys: keys, until: deadline, cancellation: cancellation)
    }
  }

  /// Runs a step on its own thread. Cancelling the task ends the step.
  private static func offload<Value: Sendable>(
    _ resources: Resources, _ timeout: Duration,
    _ step: @escaping @Sendable (Instant, any Cancellation) throws(EnrollError) -> Value
  ) async throws(EnrollError) -> Value {
    let cancellation = CancellationFlag()
    let deadline = resources.deadline(afterSeconds: max(0, timeout.components.seconds))
    let result: Result<Value, EnrollError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isStarted = WorkerPool(threads: 1, idleSeconds: 0).submit {
          do throws(EnrollError) {
            continuation.resume(returning: .success(try step(deadline, cancellation)))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
        if !isStarted {
          continuation.resume(returning: .failure(EnrollError.noThread()))
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
    return try result.get()
  }
}
