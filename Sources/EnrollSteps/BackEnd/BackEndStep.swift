// Messages to the host's back end: the confirmed profile, and failures (flows.md §7). Both are queued in the sealed
// outbox: no call waits for them, and an outage of up to 7 days loses neither.

public import EnrollRules

/// Queues and sends messages to the host's back end.
public final class BackEndStep: EngineStep {
  let context: EngineContext
  private let requests: ClientRequests

  init(_ context: EngineContext, requests: ClientRequests) {
    self.context = context
    self.requests = requests
  }

  /// Sends the event `error.reported`, and queues a report if the configuration has an endpoint for it.
  func report(_ error: EnrollError) {
    if let endpoint = configuration.errorReportURI {
      let now = clock.wallTime()
      let body = ErrorReport.body(error, at: now, clientID: configuration.clientID, platform: platform)
      let entry = OutboxEntry(
        issuer: configuration.issuer, sender: sender, endpoint: endpoint, message: .errorReport(body),
        queued: now)
      _ = try? store.updateOutbox { queued throws(EnrollError) in
        let reports = queued.indices.filter { queued[$0].isErrorReport && context.isOurs(queued[$0]) }
        if reports.count >= ErrorReport.limit, let oldest = reports.first { queued.remove(at: oldest) }
        queued.append(entry)
      }
    }
    notify(.errorReported(error))
  }

  /// Runs a step, and reports its failure if the failure may concern the user.
  public func reporting<Result>(_ step: () throws(EnrollError) -> Result) throws(EnrollError) -> Result {
    do throws(EnrollError) {
      return try step()
    } catch {
      if error.concernsUser { report(error) }
      throw error
    }
  }

  /// Queues the profile for the back end, after the change to the state `confirmed` (H). The new profile replaces a
  /// profile that is still queued.
  func tellProfile() {
    guard let endpoint = configuration.profileUpdateURI else { return }
    let entry = OutboxEntry(
      issuer: configuration.issuer, sender: sender, endpoint: endpoint,
      message: .profile(account: account.qualifiedName), queued: clock.wallTime())
    _ = try? store.updateOutbox { queued throws(EnrollError) in
      queued.removeAll { $0.message == entry.message && $0.endpoint == entry.endpoint && context.isOurs($0) }
      queued.append(entry)
    }
  }

  /// Drops a profile that is still queued, after a logout or clearing.
  func dropProfile() {
    guard configuration.profileUpdateURI != nil else { return }
    _ = try? store.updateOutbox { queued throws(EnrollError) in
      queued.removeAll { $0.message == .profile(account: account.qualifiedName) }
    }
  }

  /// Sends a queued profile.
  /// - Returns: the result; nil if the profile belongs to another account.
  func sendProfile(
    of name: String, _ entry: OutboxEntry, cancellation: (any Cancellation)?
  ) -> OutboxEntry.Delivery? {
    guard ASCII.equals(name, account.qualifiedName), let endpoint = entry.endpoint else { return nil }
    do throws(EnrollError) {
      guard let record = try store.read(account), let tokens = record.confirmed, let profile = record.profile
      else { return .done }
      let response = try requests.send(
        ProfileUpdate.request(endpoint: endpoint, tokens: tokens, profile: profile),
        provenBy: tokens.proofKey, accessToken: tokens.accessToken, cancellation: cancellation)
      return ProfileUpdate.isFinal(status: response.status)
        ? .done : .later(retryAfterSeconds: RetryAfter.seconds(of: response))
    } catch {
      return .unreached
    }
  }

  /// - Returns: as ``sendProfile(of:_:cancellation:)``.
  func sendReport(_ text: String, _ entry: OutboxEntry, cancellation: (any Cancellation)?) -> OutboxEntry
    .Delivery?
  {
    guard let endpoint = entry.endpoint else { return nil }
    do throws(EnrollError) {
      let response = try transport.send(
        ErrorReport.request(endpoint: endpoint, body: text), cancellation: cancellation)
      return ErrorReport.isFinal(status: response.status)
        ? .done : .later(retryAfterSeconds: RetryAfter.seconds(of: response))
    } catch {
      return .unreached
    }
  }
}
