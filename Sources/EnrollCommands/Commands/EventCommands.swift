// Events come only to those who asked for them.

import EnrollCore
import EnrollJSON

extension CommandTable {
  static let eventCommands = [
    Command(
      "events.subscribe", .memory, "Starts the client's events. A second call changes nothing.",
      gives: .object([
        .required(
          "events",
          Schema(.list(.text("An event's name."), maximumCount: 1000), "The events that may arrive."))
      ])
    ) { call throws(EnrollError) in
      try call.openHandle().subscribe()
      return .object([("events", .array(EventKind.all.map { .string($0.name) }))])
    },
    Command(
      "events.unsubscribe", .memory,
      "Stops the client's events. An event that is being sent may still arrive."
    ) { call throws(EnrollError) in
      try call.openHandle().unsubscribe()
      return .object([])
    },
  ]
}
