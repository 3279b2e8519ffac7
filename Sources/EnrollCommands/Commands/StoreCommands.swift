// Commands about a whole store, without a client: its accounts, and its diagnosis.

import EnrollRules
import EnrollSteps
import EnrollHost
import EnrollJSON
import EnrollPosix
import EnrollStore

extension CommandTable {
  static let storeCommands = [
    Command(
      "accounts.list", method: "accounts", .blocking,
      "Lists the names of the accounts in a store. Empty if there is no store yet.",
      client: false, takes: [.optional("store", .storeFolder), .keys],
      gives: .object([
        .required(
          "accounts", Schema(.list(.text("A name.", maximumBytes: 128), maximumCount: .max), "Sorted."))
      ]), fails: CommandErrors(.store)
    ) { call throws(EnrollError) in
      let names = try FileTokenStore.accountNames(path: try call.storePath(), keys: try call.keyPlan())
      return .object([("accounts", .array(names.map { .string($0) }))])
    },
    Command(
      "accounts.remove", method: "removeAccount", .blocking,
      "Erases an account from a store, for every provider. Sends nothing. An unknown account is no error.",
      client: false,
      takes: [
        .optional("store", .storeFolder), .keys,
        .required(
          "account", .text("The name of the account: one set of tokens in the store.", maximumBytes: 128)),
      ], fails: CommandErrors(.store)
    ) { call throws(EnrollError) in
      let account = try AccountName(try call.requiredText("account"))
      try call.openStore()?.remove(named: account.text)
      return .object([])
    },
    Command(
      "installation.reset", method: "resetInstallation", .blocking,
      "Erases the installation id of a store. The next use makes a new one. A missing store is no error.",
      client: false, takes: [.optional("store", .storeFolder), .keys], fails: CommandErrors(.store)
    ) { call throws(EnrollError) in
      try call.openStore()?.resetInstallationID()
      return .object([])
    },
    Command(
      "store.diagnose", .blocking,
      "Examines a store: owner, permissions, key provider, files, damaged files. Changes nothing.",
      client: false, takes: [.optional("store", .storeFolder), .keys], gives: diagnosis,
      fails: CommandErrors(.store)
    ) { call throws(EnrollError) in
      let path = try call.storePath()
      return StoreDiagnosis.json(try StoreDiagnosis.examine(path: path, keys: try call.keyPlan()), of: path)
    },
    Command(
      "store.rekey", .blocking,
      "Moves a store's key to another key provider, or wraps it again with the same one.",
      client: false,
      takes: [
        .optional("store", .storeFolder), .keys,
        .optional(
          "newKeys",
          .keys.as(
            "The key provider from now on. The default is the one in keys; auto is the best available one."
          )),
        .optional(
          "newDataKey", Schema(.boolean, "Whether to make a new data key and seal every file with it."),
          default: .bool(false)),
      ], gives: .object([.required("provider", .text("The key provider that now has the key."))]),
      fails: CommandErrors(.store, also: .notFound)
    ) { call throws(EnrollError) in
      guard let store = try call.openStore() else {
        throw EnrollError(.notFound, "there is no store in that directory", field: "store")
      }
      let plan = try call.keyPlan()
      let provider = try store.replaceKeys(
        try call.object("newKeys").map { object throws(EnrollError) in
          try KeyPlan(object, secrets: call.hostSecrets())
        } ?? call.newKeys ?? plan,
        newDataKey: call.flag("newDataKey"))
      return .object([("provider", .string(provider))])
    },
  ]

  private static let diagnosis = Schema(
    .anyOf([
      .object([
        .required("store", path), .required("exists", Schema(.boolean, "False: there is no such directory.")),
      ]),
      .object([
        .required("store", path), .required("exists", Schema(.boolean, "True.")),
        .required("owner", Schema(.integer(0...Int64(UInt32.max)), "The user id of the owner.")),
        .required("permissions", .text("Octal.", maximumBytes: 8)),
        .required(
          "keyProviders",
          Schema(
            .list(.text("The name of a key provider."), maximumCount: 64),
            "The key providers that have the key. None before the first use."
          )),
        .optional("keyChoice", keyChoice),
        .required("accounts", Schema(.integer(0 ... .max), "The number of accounts, readable or not.")),
        .required(
          "setAside", Schema(.integer(0 ... .max), "The number of damaged files that were set aside.")),
        .required(
          "files",
          Schema(
            .list(storedFile, maximumCount: StoreDiagnosis.fileLimit),
            "The sealed files by name, at most 1000: files that open are left out first. None while the key is unavailable."
          )),
        .optional(
          "omittedFiles", Schema(.integer(1 ... .max), "The number of sealed files that are left out.")),
        .optional(
          "wrongModes",
          Schema(
            .list(wrongModeSchema, maximumCount: StoreDiagnosis.fileLimit),
            "The first 1000 files of the store whose mode is not 0600. A file that other users can access is not used."
          )),
        .optional("problem", .error.as("What is wrong with the store.")),
      ]),
    ]), "The state of a store, without secrets."
  ).named("StoreDiagnosis")

  private static let wrongModeSchema = Schema.object(
    [
      .required("name", .text("The file name. It contains no account name.", maximumBytes: 255)),
      .required("permissions", .text("Octal.", maximumBytes: 8)),
    ], "A file of a store whose mode is not 0600."
  ).named("WrongMode")

  private static let storedFile = Schema.object(
    [
      .required("name", .text("The file name. It contains no account name.", maximumBytes: 255)),
      .required(
        "kind",
        .words(
          "StoredFileKind", ["account", "outbox", "installation", "provider", "client"],
          "The content of a sealed file."
        )),
      .optional(
        "setAsideFrom",
        .text(
          "The file was damaged and had this name. If you rename it back, it is used again.",
          maximumBytes: 255)),
      .optional("generation", .text("Increases by one with every write; decimal.", maximumBytes: 20)),
      .optional("pin", Schema(.boolean, "Whether the account has a PIN.")),
      .optional("account", Schema(.claims, "As in diagnostics.export: for humans, without secrets.")),
      .optional(
        "entries",
        Schema(
          .integer(0 ... .max), "For the outbox: the number of messages that servers have not received yet.")),
      .optional("problem", .error.as("What is wrong with the file.")),
    ], "A sealed file of a store."
  ).named("StoredFile")

  private static let keyChoice = Schema.object(
    [
      .optional("provider", .text("The name of a key provider. Absent while the best one is locked.")),
      .required("reason", .text("Why this key provider was chosen.", maximumBytes: 4096)),
      .required(
        "candidates",
        Schema(
          .list(
            .object(
              [
                .required("provider", .text("The name of a key provider.")),
                .required(
                  "presence",
                  .words(
                    "KeyPresence", ["present", "locked", "absent"], "Whether a key provider is available.")),
                .optional("reason", .text("Why it is not available.", maximumBytes: 4096)),
              ], "A key provider, and whether it is available."
            ).named("KeyCandidate"), maximumCount: 16), "The key providers in the order of preference.")),
    ], "The key provider that a new store would get, and why."
  ).named("KeyDecision")

  private static let path = Schema.text("The directory.", maximumBytes: 4095)
}

extension Schema {
  static let storeFolder = Schema.text(
    "The absolute path of a directory. The daemon's default: $XDG_DATA_HOME/enrollkit.",
    maximumBytes: TextLimits.storeFolder
  ).named("StoreFolder")
}

extension Invocation {
  /// Opens the store. Returns nil if the store's directory does not exist, and does not create it.
  fileprivate func openStore() throws(EnrollError) -> FileTokenStore? {
    try FileTokenStore.existing(path: try storePath(), keys: try keyPlan(), clock: SystemClock())
  }
}
