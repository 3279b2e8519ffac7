// A registration state as a C struct.

import CEnroll
import EnrollRules

extension enroll_state {
  init(_ value: RegistrationState) {
    self.init()
    is_settled = value.isSettled ? 1 : 0
    switch value {
    case .starting: kind = ENROLL_STATE_STARTING
    case .unregistered: kind = ENROLL_STATE_UNREGISTERED
    case .authenticating(let transactionID, let step):
      kind = ENROLL_STATE_AUTHENTICATING
      self.step = step.number
      CharacterArray.write(transactionID.text, to: &transaction)
    case .awaitingConfirmation(let transactionID, _):
      kind = ENROLL_STATE_AWAITING_CONFIRMATION
      CharacterArray.write(transactionID.text, to: &transaction)
    case .active(let activation):
      kind = ENROLL_STATE_ACTIVE
      active_reason = activation.number
    case .renewalFailed(let failure):
      kind = ENROLL_STATE_RENEWAL_FAILED
      remedy = failure.remedy.number
      is_token_usable = failure.isTokenUsable ? 1 : 0
      setReason(failure.error)
    case .registrationFailed(let error):
      kind = ENROLL_STATE_REGISTRATION_FAILED
      setReason(error)
    }
  }

  private mutating func setReason(_ error: EnrollError) {
    reason = error.code.rawValue
    reason_http_status = error.httpStatus.flatMap { Int32(exactly: $0) } ?? 0
    CharacterArray.write(error.oauthError ?? "", to: &reason_oauth_error)
    CharacterArray.write(error.oauthErrorDescription ?? "", to: &reason_oauth_error_description)
    CharacterArray.write(error.message, to: &reason_message)
  }
}

extension RegistrationState.Step {
  /// The number of the constant ENROLL_STEP_*.
  var number: Int32 {
    switch self {
    case .browser: ENROLL_STEP_BROWSER
    case .emailPending: ENROLL_STEP_EMAIL_PENDING
    case .codePending: ENROLL_STEP_CODE_PENDING
    case .otherApp: ENROLL_STEP_OTHER_APP
    case .exchanging: ENROLL_STEP_EXCHANGING
    case .pin: ENROLL_STEP_PIN
    }
  }
}

extension RegistrationState.Activation {
  /// The number of the constant ENROLL_ACTIVE_REASON_*.
  var number: Int32 {
    switch self {
    case .notNative: ENROLL_ACTIVE_REASON_NOT_NATIVE
    case .valid: ENROLL_ACTIVE_REASON_VALID
    case .renewed: ENROLL_ACTIVE_REASON_RENEWED
    case .confirmed: ENROLL_ACTIVE_REASON_CONFIRMED
    }
  }
}

extension RegistrationState.RenewalFailure.Remedy {
  /// The number of the constant ENROLL_REMEDY_*.
  var number: Int32 {
    switch self {
    case .retry: ENROLL_REMEDY_RETRY
    case .wait: ENROLL_REMEDY_WAIT
    case .registerAgain: ENROLL_REMEDY_REGISTER_AGAIN
    }
  }
}

private let stateNames = NameTable(
  from: ENROLL_STATE_STARTING,
  [
    "starting", "unregistered", "authenticating", "awaitingConfirmation", "active", "failed", "failed",
  ])
private let stepNames = NameTable(
  from: ENROLL_STEP_NONE, ["none", "browser", "emailPending", "codePending", "otherApp", "exchanging", "pin"])
private let activeReasonNames = NameTable(
  from: ENROLL_ACTIVE_REASON_NONE, ["none", "notNative", "valid", "renewed", "confirmed"])
private let remedyNames = NameTable(from: ENROLL_REMEDY_NONE, ["none", "retry", "wait", "registerAgain"])

@_cdecl("enroll_state_init") @implementation
public func enroll_state_init(_ state: StateOut?, _ struct_size: Int) {
  enroll_state.initialize(state, size: struct_size)
}

@_cdecl("enroll_state_name") @implementation
public func enroll_state_name(_ kind: Int32) -> UnsafePointer<CChar>! { stateNames.name(of: kind) }

@_cdecl("enroll_step_name") @implementation
public func enroll_step_name(_ step: Int32) -> UnsafePointer<CChar>! { stepNames.name(of: step) }

@_cdecl("enroll_active_reason_name") @implementation
public func enroll_active_reason_name(_ active_reason: Int32) -> UnsafePointer<CChar>! {
  activeReasonNames.name(of: active_reason)
}

@_cdecl("enroll_remedy_name") @implementation
public func enroll_remedy_name(_ remedy: Int32) -> UnsafePointer<CChar>! { remedyNames.name(of: remedy) }
