// `enroll-gateway keys add`: adds a key to the key file.

import EnrollArguments
import EnrollRules
import EnrollGateway
import EnrollPosix

enum KeysCommand {
  static let command = Command("keys", "Create keys.", subcommands: [add])

  private static let add = Command(
    "add",
    "Add a key to the key file. The key opens data at once and seals data after a day; send SIGHUP to each gateway.",
    arguments: [GatewayCommand.config.argument]
  ) { values in
    GatewayCommand.status { () throws(EnrollError) in
      let setup = try Setup(path: values[GatewayCommand.config])
      let id = try KeyFile.addKey(to: setup.settings.keyFile, at: setup.clock.wallTime())
      StandardStream.printLine("key \(id) is in \(setup.settings.keyFile)")
    }
  }
}
