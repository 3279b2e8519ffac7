// The options that every command takes: which provider, which store, which account, and the store's key provider.
// Secrets never come this way: arguments are public.

import ArgumentParser

struct ContextOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The configuration file (ENROLL_CONFIG).", valueName: "file"),
    completion: .file(extensions: ["json"]))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "The name of a configuration in $XDG_CONFIG_HOME/enrollkit (ENROLL_PROFILE; default).",
      valueName: "name"), completion: .custom(Candidates.profiles))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "The store directory (ENROLL_STORE; $XDG_DATA_HOME/enrollkit).", valueName: "folder"),
    completion: .directory)
  var store: String?

  @Option(
    help: ArgumentHelp("The name of the account in the store (ENROLL_ACCOUNT; default).", valueName: "name"),
    completion: .custom(Candidates.accounts))
  var account: String?

  @Option(
    help: ArgumentHelp(
      "The key provider that protects the store's key: \(PlaceOptions.KeyChoice.list). The default is auto, the best available one.",
      valueName: "provider"))
  var keys: PlaceOptions.KeyChoice?

  @Option(
    name: .customLong("passphrase-fd"),
    help: ArgumentHelp("Read the store's passphrase from this file descriptor.", valueName: "number"))
  var passphraseFD: Int32?

  @Option(
    name: .customLong("pin-fd"),
    help: ArgumentHelp("Read the account's PIN from this file descriptor.", valueName: "number"))
  var pinFD: Int32?

  @Flag(help: "Print JSON on standard output; messages go to standard error.")
  var json = false

  func validate() throws {
    if let complaint = options.complaint { throw ValidationError(complaint) }
  }

  var options: PlaceOptions {
    PlaceOptions(
      config: config, profile: profile, store: store, account: account, keys: keys,
      passphraseFD: passphraseFD, pinFD: pinFD, json: json)
  }
}

extension PlaceOptions.KeyChoice: ExpressibleByArgument {}
