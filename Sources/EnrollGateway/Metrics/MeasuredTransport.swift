// Counts and times the requests to a provider.

public import EnrollRules
public import EnrollSteps
import EnrollHTTP

/// The transport of one provider. It reports each request to the metrics.
public final class MeasuredTransport: Transport {
  private let transport: any Transport
  private let provider: String
  private let metrics: GatewayMetrics
  private let clock: any Clock

  public init(
    _ transport: any Transport, of provider: String, metrics: GatewayMetrics, clock: any Clock
  ) {
    self.transport = transport
    self.provider = provider
    self.metrics = metrics
    self.clock = clock
  }

  public var trust: String { transport.trust }

  public func becomeReady(cancellation: any Cancellation) {
    transport.becomeReady(cancellation: cancellation)
  }

  public func send(
    _ request: HTTPRequest, cancellation: (any Cancellation)?
  ) throws(EnrollError) -> HTTPResponse {
    let begin = clock.instant()
    do throws(EnrollError) {
      let response = try transport.send(request, cancellation: cancellation)
      record(response.status < 400 ? .ok : response.status < 500 ? .refused : .failed, since: begin)
      return response
    } catch {
      record(.unreachable, since: begin)
      throw error
    }
  }

  private func record(_ outcome: GatewayMetrics.CallOutcome, since begin: Instant) {
    metrics.called(provider: provider, outcome, nanoseconds: clock.instant().since(begin))
  }
}
