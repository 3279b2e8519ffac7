// The request for one run of the program.

/// The context of a command, and the options that hints about the command repeat.
struct CommandRequest {
  var place: PlaceOptions
  /// Whether a user at the terminal may be asked for a passphrase or a PIN.
  var mayAsk = true
  /// Why no user was asked for a passphrase, for an error text.
  var reasonNotToAsk: String {
    mayAsk ? "there is no terminal to ask for it" : "this command does not ask for it"
  }
  /// The provider from the command line, if the command accepts a provider.
  var provider: NamedProvider?
  /// The resource for which tokens are requested; nil if tokens are for no resource.
  var resource: String?
  /// The command's name and its own options, for advice to run the command again.
  var attempt: [String]
}

/// A provider from the command line.
struct NamedProvider {
  /// The provider's options as arguments for another command line.
  var words: [String]
  /// The options that change an existing profile.
  var settingWords: [String] = []
  /// The resource, if the command line has no other option about the provider.
  var resourceAlone: String?
}
