// Facts about a client as values, for programs that act on these facts. The report for support contains the same facts
// and many more.

public import EnrollJSON
public import EnrollRules

/// Facts about the client, its provider and its account, as far as this process knows them without a request.
public struct ClientFacts: Sendable {
  /// Whether EnrollKit itself registered the client at the provider (flows.md §12).
  public var hasRegisteredClient = false
  /// Whether the provider no longer knows the registered client. False if this is unknown.
  public var isClientForgotten = false
  /// The provider's metadata; nil before this metadata was requested for the first time.
  public var provider: ProviderMetadata?
  /// How far this device's clock is ahead of the provider's; nil if no response had a date.
  public var secondsAheadOfServer: Int64?
  /// The last failures and warnings of this process, the latest last.
  public var errors: [EnrollError] = []
  /// The number of messages that servers have not received yet; nil if the store cannot be read.
  public var queuedMessageCount: Int?
  /// The reason why the provider refused a revocation, from the last answer to a revocation that this process got. nil
  /// if the provider accepted that revocation.
  public var revocationRefusal: String?
  /// Whether this process has messages that the store did not accept. If the process ends, nobody sends them.
  public var hasUnqueuedMessages = false

  /// Whether the provider announces an endpoint for other devices (RFC 8628).
  public var hasDeviceGrant: Bool { provider?.deviceAuthorizationEndpoint != nil }

  /// The provider's metadata as the report for support shows it.
  public var providerReport: JSON? { provider?.shown }

  /// The clock as the report for support shows it.
  public var clockReport: JSON { Self.clockReport(secondsAheadOfServer) }

  static func clockReport(_ secondsAheadOfServer: Int64?) -> JSON {
    .object([("aheadOfServerSeconds", secondsAheadOfServer.map { .integer($0) })])
  }
}

extension DiagnosticsStep {
  /// The facts that this process knows, without a request. This never fails: a fact that cannot be read is absent.
  public func facts() -> ClientFacts {
    let moment = clock.moment()
    var facts = ClientFacts()
    facts.provider = provider.cachedMetadata
    facts.secondsAheadOfServer = secondsAheadOfServer(at: moment.wall)
    facts.errors = context.events.errors.entries.map { $0.error }
    if let client = context.registeredClient {
      facts.hasRegisteredClient = true
      do throws(EnrollError) {
        facts.isClientForgotten = isForgotten(client, by: try store.read(account), at: moment)
      } catch {}
    }
    facts.queuedMessageCount = try? store.updateOutbox { _ throws(EnrollError) in }.count
    return facts
  }

  func secondsAheadOfServer(at now: UnixTime) -> Int64? {
    (provider.serverTime ?? provider.documentTime).map { now.since($0) }
  }

  /// Whether the provider refused this registered client, or its secret has expired.
  func isForgotten(_ client: RegisteredClient, by record: AccountRecord?, at moment: Moment) -> Bool {
    let isRefused = record.map { client.isForgotten($0) } ?? false
    return isRefused || !client.isUsable(at: moment.wall)
  }
}
