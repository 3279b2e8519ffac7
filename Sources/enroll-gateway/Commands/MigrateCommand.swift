// `enroll-gateway migrate`: migrates the database to this program's schema, before `serve`.

import EnrollArguments
import EnrollRules
import EnrollGateway

enum MigrateCommand {
  static let command = Command(
    "migrate", "Migrate the database to this program's schema. serve also does this.",
    arguments: [GatewayCommand.config.argument]
  ) { values in
    GatewayCommand.status { () throws(EnrollError) in
      let setup = try Setup(path: values[GatewayCommand.config])
      try setup.checkDatabaseOwner()
      let store = try setup.store()
      defer { store.close() }
      let applied = try setup.migrated(store)
      StandardStream.printLine(
        applied.isEmpty
          ? "The schema is up to date." : "Applied: \(applied.map { String($0) }.joined(separator: ", ")).")
    }
  }
}
