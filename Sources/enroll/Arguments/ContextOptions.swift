// The options that every command has: provider, store, account, and the store's key provider. They never have secrets,
// because arguments are public.

import EnrollArguments

enum ContextOptions {
  private static let config = Parameter.option(
    "config", value: "file", help: "The configuration file (ENROLL_CONFIG).",
    completion: .files(extension: "json"))
  private static let profile = Parameter.option(
    "profile", value: "name",
    help: "The name of a configuration in $XDG_CONFIG_HOME/enrollkit (ENROLL_PROFILE; default).",
    completion: .found { _ in Candidates.profiles })
  private static let store = Parameter.option(
    "store", value: "folder", help: "The store directory (ENROLL_STORE; $XDG_DATA_HOME/enrollkit).",
    completion: .folders)
  private static let account = Parameter.option(
    "account", value: "name", help: "The name of the account in the store (ENROLL_ACCOUNT; default).",
    completion: .found { Candidates.accounts($0) })
  private static let keys = Parameter.choice(
    "keys", value: "provider",
    help:
      "The key provider that protects the store's key: \(PlaceOptions.KeyChoice.list). The default is auto, the best available one.",
    of: PlaceOptions.KeyChoice.self)
  private static let passphraseFD = Parameter.option(
    "passphrase-fd", value: "number", help: "Read the store's passphrase from this file descriptor.",
    in: descriptors)
  private static let pinFD = Parameter.option(
    "pin-fd", value: "number", help: "Read the account's PIN from this file descriptor.", in: descriptors)
  private static let json = Parameter.flag(
    "json", help: "Print JSON on standard output; messages go to standard error.")

  /// This option is not in ``group``, because only some commands have it, with their own help.
  static let resource = Parameter.option(
    "resource", value: "url",
    help: "The account that signed in at this API or MCP server with enroll login --resource.")

  private static let descriptors: ClosedRange<Int64> = 0...Int64(Int32.max)

  static let group = Group(
    "Context",
    [
      config.argument, profile.argument, store.argument, account.argument, keys.argument,
      passphraseFD.argument, pinFD.argument, json.argument,
    ])

  static func read(_ values: Values) throws(UsageError) -> PlaceOptions {
    let options = PlaceOptions(
      config: values[config], profile: values[profile], store: values[store], account: values[account],
      keys: values[keys], passphraseFD: values[passphraseFD].flatMap { Int32(exactly: $0) },
      pinFD: values[pinFD].flatMap { Int32(exactly: $0) }, json: values[json])
    if let complaint = options.complaint { throw UsageError(complaint) }
    return options
  }
}
