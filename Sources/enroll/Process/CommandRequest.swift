// What one run of the program is asked for.

/// A command with its place, and its options as hints repeat them.
struct CommandRequest {
  var place: PlaceOptions
  /// Whether a person at the terminal may be asked for a passphrase or a PIN.
  var mayAsk = true
  /// The provider that was named on the command line, where the command takes one.
  var provider: NamedProvider?
  /// The resource whose tokens are asked for, where one is named.
  var resource: String?
  /// The command's name and its own options, to be typed again.
  var attempt: [String]
}

/// A provider, as it was named on the command line.
struct NamedProvider {
  /// The same options again.
  var words: [String]
  /// The resource, where nothing else about the provider was named.
  var resourceAlone: String?
}
