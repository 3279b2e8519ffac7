// docs/states.md is generated from the transition table. ENROLL_WRITE_DOCS=1 writes it.

import EnrollRules
import EnrollPosix
import Testing

private typealias State = RegistrationState.Kind
private typealias Event = RegistrationEvent.Kind

@Suite("The documentation of the state machine")
struct StatesDocumentTests {
  @Test("docs/states.md is drawn from the transition table")
  func drawn() throws {
    try DrawnPage.check("states.md", drawing())
  }

  private func drawing() -> String {
    """
    # The registration's states

    Generated from `Sources/EnrollRules/Registration/TransitionTable.swift`; do not edit. If a state has no arrow for an
    event, the event fails there with `illegalState` and changes nothing.

    ## Diagram

    ```mermaid
    stateDiagram-v2
      [*] --> starting
    \(diagram().joined(separator: "\n"))
    ```

    ## Table

    Rows are states and columns are events. A cell is the state to which the event leads; empty cells are illegal.

    \(table().joined(separator: "\n"))

    """
  }

  private func diagram() -> [String] {
    let names = State.allCases.map { "  \($0.rawValue): \(label($0))" }
    var arrows: [String] = []
    for from in State.allCases {
      for to in State.allCases where to != from {
        let events = Event.allCases.filter { TransitionTable.target(from: from, on: $0) == to }
        if !events.isEmpty {
          arrows.append(
            "  \(from.rawValue) --> \(to.rawValue): \(events.map(\.rawValue).joined(separator: ", "))")
        }
      }
    }
    return names + arrows
  }

  private func table() -> [String] {
    let head = "| state | " + Event.allCases.map(\.rawValue).joined(separator: " | ") + " |"
    let line = "| --- |" + String(repeating: " --- |", count: Event.allCases.count)
    let rows = State.allCases.map { state in
      let cells = Event.allCases.map { event in
        TransitionTable.target(from: state, on: event).map { $0.letter ?? $0.rawValue } ?? ""
      }
      return "| \(label(state)) | " + cells.joined(separator: " | ") + " |"
    }
    return [head, line] + rows
  }

  private func label(_ state: State) -> String {
    state.letter.map { "\($0) \(state.rawValue)" } ?? state.rawValue
  }
}
