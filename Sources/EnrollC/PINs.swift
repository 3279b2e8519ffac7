// A PIN for the account.

public import CEnroll
import EnrollRules
import EnrollCrypto
import EnrollHost

private func pin(
  _ pointer: UnsafePointer<CChar>?, _ size: Int, _ name: String
) throws(EnrollError) -> Secret {
  Secret(try TextInput(pointer, size, name).requiredText(limit: TextLimit.name))
}

/// Runs the body of a function whose output is the result of a PIN attempt.
private func returningAnswer(
  _ client: Handle?, _ outcome: Int32Out?, _ triesLeft: Int64Out?, _ retryAfter: Int64Out?,
  _ error: ErrorOut?, _ body: (ClientHandle) throws(EnrollError) -> PINAnswer
) -> enroll_status {
  reporting(to: error) { () throws(EnrollError) in
    let answer = try body(try ClientHandle.find(client))
    switch answer.outcome {
    case .unlocked: outcome?.pointee = ENROLL_PIN_UNLOCKED
    case .wrong: outcome?.pointee = ENROLL_PIN_WRONG
    case .tooSoon: outcome?.pointee = ENROLL_PIN_TOO_SOON
    case .erased: outcome?.pointee = ENROLL_PIN_ERASED
    }
    triesLeft?.pointee = answer.triesLeft
    retryAfter?.pointee = answer.retryAfterSeconds
  }
}

@_cdecl("enroll_pin_set") @implementation
public func enroll_pin_set(_ client: Handle?, _ pin: TextIn?, _ pin_size: Int, _ error: ErrorOut?)
  -> enroll_status
{
  reporting(to: error) { () throws(EnrollError) in
    try ClientHandle.find(client).client.setPIN(try EnrollC.pin(pin, pin_size, "pin"))
  }
}

@_cdecl("enroll_pin_unlock") @implementation
public func enroll_pin_unlock(
  _ client: Handle?, _ pin: TextIn?, _ pin_size: Int, _ outcome: Int32Out?, _ tries_left: Int64Out?,
  _ retry_after: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  returningAnswer(client, outcome, tries_left, retry_after, error) { handle throws(EnrollError) in
    try handle.client.usePIN(try EnrollC.pin(pin, pin_size, "pin"), to: .unlock)
  }
}

@_cdecl("enroll_pin_change") @implementation
public func enroll_pin_change(
  _ client: Handle?, _ pin: TextIn?, _ pin_size: Int, _ new_pin: TextIn?, _ new_pin_size: Int,
  _ outcome: Int32Out?, _ tries_left: Int64Out?, _ retry_after: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  returningAnswer(client, outcome, tries_left, retry_after, error) { handle throws(EnrollError) in
    try handle.client.usePIN(
      try EnrollC.pin(pin, pin_size, "pin"),
      to: .replace(try EnrollC.pin(new_pin, new_pin_size, "new_pin")))
  }
}

@_cdecl("enroll_pin_remove") @implementation
public func enroll_pin_remove(
  _ client: Handle?, _ pin: TextIn?, _ pin_size: Int, _ outcome: Int32Out?, _ tries_left: Int64Out?,
  _ retry_after: Int64Out?, _ error: ErrorOut?
) -> enroll_status {
  returningAnswer(client, outcome, tries_left, retry_after, error) { handle throws(EnrollError) in
    try handle.client.usePIN(try EnrollC.pin(pin, pin_size, "pin"), to: .remove)
  }
}
