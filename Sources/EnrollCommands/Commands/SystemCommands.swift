// Facts about this build.

import EnrollSteps
import EnrollHost
import EnrollJSON

extension CommandTable {
  static let systemCommands = [
    Command(
      "system.describe", .memory, "Describes this library: versions, commands, key providers.",
      client: false, gives: description
    ) { _ in
      .object([
        ("name", .string("EnrollKit")),
        ("version", .string(LibraryVersion.string)),
        ("abi", .integer(Int64(LibraryVersion.abi))),
        ("commands", .array(CommandTable.all.map { .string($0.name) })),
        ("events", .array(EventKind.all.map { .string($0.name) })),
        ("keyProviders", .array(KeyPlan.choices.dropFirst().map { .string($0) })),
      ])
    }
  ]

  private static let description = Schema.object(
    [
      .required("name", .word("EnrollKit", "The library's name.")),
      .required("version", .text("The version of the library: major.minor.patch.")),
      .required(
        "abi",
        Schema(.integer(1...Int64(UInt32.max)), "The version of the C interface: major × 65536 + minor.")),
      .required("commands", Schema(.list(.text("A command's name."), maximumCount: 1000))),
      .required("events", Schema(.list(.text("An event's name."), maximumCount: 1000))),
      .required(
        "keyProviders",
        Schema(
          .list(.text("The name of a key provider."), maximumCount: 16),
          "The key providers that can protect a store.")
      ),
    ], "A description of the library."
  ).named("SystemDescription")
}
