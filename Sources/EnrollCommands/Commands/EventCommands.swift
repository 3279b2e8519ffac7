// Events come only to those who asked for them.

import EnrollCore
import EnrollJSON

extension CommandTable {
  static let eventCommands = [
    Command(
      "events.subscribe", .memory, "From now on the client's events are told. Asking twice changes nothing.",
      gives: .object([
        .required("events", Schema(.list(.text("An event's name."), maximumCount: 1000), "What may come."))
      ])
    ) { call throws(EnrollError) in
      try call.openHandle().subscribe()
      return .object([("events", .array(EventKind.all.map { .string($0.name) }))])
    },
    Command(
      "events.unsubscribe", .memory,
      "The client's events are told no more; one that is under way may still come."
    ) { call throws(EnrollError) in
      try call.openHandle().unsubscribe()
      return .object([])
    },
  ]
}
