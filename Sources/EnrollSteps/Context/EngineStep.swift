// The protocols that the steps of the engine conform to.

import EnrollRules

/// A step of the engine. A step has only constants: the context, the parts of the state that the step changes, and the
/// steps that it calls. Steps are classes, because several steps may call the same step.
protocol EngineStep: AnyObject, Sendable {
  var context: EngineContext { get }
}

extension EngineStep {
  var configuration: Configuration { context.configuration }
  var account: AccountName { context.account }
  var platform: Platform { context.platform }
  var sender: OutboxEntry.Sender { context.sender }
  var transport: any Transport { context.transport }
  var store: any TokenStore { context.store }
  var clock: any Clock { context.clock }
  var random: any RandomSource { context.random }
  var provider: ProviderDirectory { context.provider }
  var closing: (any Cancellation)? { context.closing }

  func notify(_ notification: EnrollEvent) { context.events.notify(notification) }
  func warn(_ error: EnrollError) { context.events.warn(error) }
}

/// A step that may change the state of the registration.
protocol StateChangingStep: EngineStep {
  var machine: StateMachine { get }
}

extension StateChangingStep {
  /// The last known state, without reading the store.
  var state: RegistrationState { machine.state }

  /// As ``StateMachine/apply(_:)``.
  @discardableResult
  func apply(_ event: RegistrationEvent) throws(EnrollError) -> RegistrationState { try machine.apply(event) }

  /// As ``StateMachine/require(_:)``.
  func require(_ event: RegistrationEvent) throws(EnrollError) { try machine.require(event) }
}
