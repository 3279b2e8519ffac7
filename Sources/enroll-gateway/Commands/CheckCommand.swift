// `enroll-gateway check`: checks everything that `serve` needs, without serving.

import EnrollArguments
import EnrollRules
import EnrollGateway
import EnrollHost

enum CheckCommand {
  private static let offline = Parameter.flag("offline", help: "Do not contact providers or the directory.")

  static let command = Command(
    "check", "Check the configuration, the keys, the database, every provider and the directory.",
    arguments: [offline.argument, GatewayCommand.config.argument]
  ) { values in
    GatewayCommand.status { () throws(EnrollError) in
      let setup = try Setup(path: values[GatewayCommand.config])
      _ = try setup.keys()
      _ = try setup.pages()
      _ = try setup.serverSettings()
      _ = try setup.metricsSettings()
      try CurlTransport.checkLibrary()
      let state = try setup.databaseState()
      StandardStream.printLine("configuration, keys, texts and database: fine")
      if let state { StandardStream.printLine("database: \(state)") }
      if !values[offline] {
        try ask(setup.providers())
        try ask(setup.otherDirectory())
      }
      if let script = try setup.oktaScript() {
        StandardStream.printLine("For Okta's sign-in page, behind {{{OktaUtil}}}:\n\(script)")
      }
    }
  }

  private static func ask(_ providers: [SignInProvider]) throws(EnrollError) {
    var failed: EnrollError?
    for provider in providers {
      do throws(EnrollError) {
        try provider.check()
        StandardStream.printLine("\(provider.name): fine")
      } catch {
        StandardStream.printLine("\(provider.name): \(error.message)")
        failed = error
      }
    }
    if failed != nil { throw EnrollError(.configuration, "a provider cannot be used; its line says why") }
  }

  private static func ask(_ directory: (any Directory)?) throws(EnrollError) {
    guard let directory else { return }
    do throws(DirectoryFailure) { try directory.probe() } catch {
      throw EnrollError(.configuration, "directory: \(error.message)", field: "directory")
    }
    StandardStream.printLine("directory \(directory.name): fine")
  }
}
