// The confirmation of a profile (state `awaitingConfirmation`): finds the sign-in that waits for it, and confirms it
// by its transaction.

public import CEnroll
import EnrollRules
import EnrollHost
import EnrollJSON

@_cdecl("enroll_account_waiting") @implementation
public func enroll_account_waiting(
  _ client: Handle?, _ transaction: BufferOut?, _ profile: BufferOut?, _ registration_type: BufferOut?,
  _ error: ErrorOut?
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    guard let waiting = try ClientHandle.find(client).client.readAccount().waiting else {
      throw EnrollError(.notFound, "no sign-in waits for confirmation")
    }
    let outputs = (
      transaction: transaction == nil ? enroll_buf() : try enroll_buf(waiting.transactionID.text),
      profile: profile == nil ? enroll_buf() : try enroll_buf(JSON.object(waiting.profile).serialized()),
      type: registration_type == nil ? enroll_buf() : try enroll_buf(waiting.registrationType ?? "")
    )
    transaction?.pointee = outputs.transaction
    profile?.pointee = outputs.profile
    registration_type?.pointee = outputs.type
  }
}

@_cdecl("enroll_registration_confirm") @implementation
public func enroll_registration_confirm(_ client: Handle?, _ state: StateOut?, _ error: ErrorOut?)
  -> enroll_status
{
  returningState(client, state, error) { handle throws(EnrollError) in
    // A program that does not use enroll_account_waiting shows the claims of enroll_identity_profile. Those claims
    // belong to the confirmed session, not to the sign-in that waits.
    guard try !handle.client.waitsBesideAnotherUser() else {
      throw EnrollError(
        .illegalState,
        "another user's session is confirmed: read the sign-in that waits with enroll_account_waiting, and name its transaction with enroll_registration_confirm_transaction",
        field: "transaction")
    }
    return try handle.client.confirm(until: .distantFuture, cancellation: handle.closing)
  }
}

@_cdecl("enroll_registration_confirm_transaction") @implementation
public func enroll_registration_confirm_transaction(
  _ client: Handle?, _ transaction: TextIn?, _ transaction_size: Int, _ state: StateOut?, _ error: ErrorOut?
) -> enroll_status {
  returningState(client, state, error) { handle throws(EnrollError) in
    try handle.client.confirm(
      try transactionID(transaction, transaction_size), until: .distantFuture, cancellation: handle.closing)
  }
}
