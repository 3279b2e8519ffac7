// The report for support, without secrets (flows.md §11, R40), from the engine and the store.

public import EnrollJSON
import EnrollRules

/// The report for support, and facts about the client.
public final class DiagnosticsStep: EngineStep {
  let context: EngineContext
  private let machine: StateMachine

  init(_ context: EngineContext, machine: StateMachine) {
    self.context = context
    self.machine = machine
  }

  /// All facts that this process knows, without a request. This never fails: if the store cannot be read, the report
  /// says so.
  public func diagnostics() -> JSONObject {
    let moment = clock.moment()
    let (state, errors) = (machine.state, context.events.errors)
    let client = context.registeredClient
    var facts = JSONObject([
      ("at", .integer(moment.wall.seconds)),
      (
        "state",
        .object([
          ("kind", .string(state.kind.rawValue)), ("letter", state.kind.letter.map { .string($0) }),
        ])
      ),
      ("platform", platform.shown),
      ("configuration", configuration.shown), ("hasRegisteredClient", .bool(client != nil)),
      ("provider", provider.cachedMetadata?.shown),
      ("clock", ClientFacts.clockReport(secondsAheadOfServer(at: moment.wall))),
      ("errors", .array(errors.entries.map { $0.error.shown(at: $0.at) })),
    ])
    do throws(EnrollError) {
      let record = try store.read(account)
      facts["account"] = (record ?? AccountRecord()).shown(
        at: moment, exists: record != nil, scopes: configuration.scopes)
      if let client {
        facts["isClientForgotten"] = .bool(isForgotten(client, by: record, at: moment))
      }
    } catch {
      facts["account"] = .object([("problem", error.shown(at: nil))])
    }
    do throws(EnrollError) {
      let entries = try store.updateOutbox { _ throws(EnrollError) in }
      facts["outbox"] = .object([
        ("count", .integer(Int64(entries.count))),
        ("oldestSeconds", entries.map { moment.wall.since($0.queued) }.max().map { .integer($0) }),
        ("attempts", entries.map { Int64($0.attempts) }.max().map { .integer($0) }),
      ])
    } catch {
      facts["outbox"] = .object([("problem", error.shown(at: nil))])
    }
    return facts
  }
}
