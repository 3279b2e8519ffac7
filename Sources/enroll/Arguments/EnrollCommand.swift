// The interface between the parser and the program: a command has options about the place, and a run that ends with an exit
// status.

import ArgumentParser

/// A command that goes through the session.
protocol EnrollCommand: ParsableCommand {
  var place: ContextOptions { get }
  /// Whether a person at the terminal may be asked for a passphrase or a PIN.
  var mayAsk: Bool { get }
  /// The provider that was named on the command line, where the command takes one.
  var provider: ProviderArguments? { get }
  /// The command's name and its own options, to be typed again.
  var attempt: [String] { get }
  func perform(_ session: CommandSession) throws(Failure) -> CommandStatus
}

extension EnrollCommand {
  var mayAsk: Bool { true }
  var provider: ProviderArguments? { nil }
  var attempt: [String] { [Self._commandName] }
}
