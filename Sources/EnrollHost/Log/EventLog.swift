// A client's events as lines of its log.

import EnrollRules
import EnrollSteps

final class EventLog: EngineObserver {
  private let handler: any LogHandler

  init(_ handler: any LogHandler) { self.handler = handler }

  func warn(_ error: EnrollError) { handler.log(.warning, "\(error.code.name): \(error.message)") }

  func observe(_ notification: EnrollEvent) {
    switch notification {
    case .registrationChanged(let state):
      handler.log(.info, "registration: \(state.kind.rawValue)")
    case .tokenRenewed(let expiresAt): handler.log(.info, "tokens renewed; they end at \(expiresAt.seconds)")
    case .tokenRenewalFailed(let error):
      handler.log(.warning, "renewal failed: \(error.code.name): \(error.message)")
    case .errorReported(let error): handler.log(.error, "\(error.code.name): \(error.message)")
    case .logoutFinished: handler.log(.info, "logout finished")
    // The change of the state has been logged already.
    case .registrationSettled: break
    }
  }
}

extension LogHandler {
  func log(_ level: LogLevel, _ line: @autoclosure () -> String) {
    if level.rawValue <= self.level.rawValue { write(level, line()) }
  }
}
