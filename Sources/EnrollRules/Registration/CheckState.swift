// The result of the registration check (R31), as the engine keeps it in memory.

/// The result of the last registration check in this process.
package enum CheckState: Equatable, Sendable {
  case none
  case passed(epoch: UInt64)
  /// The check is postponed, because the back end could not be reached. It is sent again after this time.
  case postponed(epoch: UInt64, until: Instant)
  /// The check was refused. The state is E `renewalFailed` or F `registrationFailed` until the host or the user tries
  /// again.
  case refused(epoch: UInt64)
  /// The check refused tokens that wait for confirmation.
  case provisionalRefused
}
