// Code of the host that runs inside a call: its transport, its secrets, its clock, its log. It may call only what takes
// no client (R41).

import EnrollHost

enum HostCode {
  /// Set on a thread that is inside such code.
  static let mark = ThreadMark()
}
