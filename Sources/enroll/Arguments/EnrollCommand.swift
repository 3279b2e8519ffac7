// What the parser and the program agree on: a command has options about the place, and a run that ends with an exit status.

import ArgumentParser

/// A command that goes through the door.
protocol EnrollCommand: ParsableCommand {
  var place: PlaceOptions { get }
  /// Whether a person at the terminal may be asked for a passphrase or a PIN.
  var mayAsk: Bool { get }
  func perform(_ door: Door) throws(Failure) -> Ending
}

extension EnrollCommand {
  var mayAsk: Bool { true }
}
