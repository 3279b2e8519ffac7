// All constants of the header with their names, for languages that cannot read macros. Also the library's versions. A
// test compares this table with the header.

public import CEnroll
import EnrollCommands
import EnrollRules
import EnrollHost

private struct Constant: Sendable {
  var name: String
  var value: Int64
  var text: PermanentText

  init(_ name: String, _ value: Int64) {
    self.name = name
    self.value = value
    text = PermanentText(name)
  }

  /// All constants, in the order of the header.
  static let all: [Constant] = statuses + blames + limits + registration + tokens + sizes

  private static var statuses: [Constant] {
    var constants = [Constant("ENROLL_OK", Int64(ENROLL_OK))]
    for code in EnrollError.Code.allCases {
      constants.append(Constant(code.constantName, Int64(code.rawValue)))
    }
    return constants
  }

  private static var blames: [Constant] {
    [
      Constant("ENROLL_BLAME_NONE", Int64(ENROLL_BLAME_NONE)),
      Constant("ENROLL_BLAME_CALLER", Int64(ENROLL_BLAME_CALLER)),
      Constant("ENROLL_BLAME_HOST", Int64(ENROLL_BLAME_HOST)),
      Constant("ENROLL_BLAME_USER", Int64(ENROLL_BLAME_USER)),
      Constant("ENROLL_BLAME_SERVER", Int64(ENROLL_BLAME_SERVER)),
      Constant("ENROLL_BLAME_NETWORK", Int64(ENROLL_BLAME_NETWORK)),
      Constant("ENROLL_BLAME_INTERNAL", Int64(ENROLL_BLAME_INTERNAL)),
    ]
  }

  private static var limits: [Constant] {
    [
      Constant("ENROLL_NUL_TERMINATED", Int64(TextInput.nulTerminated)),
      Constant("ENROLL_NO_TIMEOUT", Int64(ENROLL_NO_TIMEOUT)),
      Constant("ENROLL_MESSAGE_CAPACITY", Int64(ENROLL_MESSAGE_CAPACITY)),
      Constant("ENROLL_FIELD_CAPACITY", Int64(ENROLL_FIELD_CAPACITY)),
      Constant("ENROLL_OAUTH_DESCRIPTION_CAPACITY", Int64(ENROLL_OAUTH_DESCRIPTION_CAPACITY)),
      Constant("ENROLL_OAUTH_ERROR_CAPACITY", Int64(ENROLL_OAUTH_ERROR_CAPACITY)),
      Constant("ENROLL_TRANSACTION_CAPACITY", Int64(ENROLL_TRANSACTION_CAPACITY)),
      Constant("ENROLL_USER_CODE_CAPACITY", Int64(ENROLL_USER_CODE_CAPACITY)),
      Constant("ENROLL_VERIFICATION_URI_CAPACITY", Int64(ENROLL_VERIFICATION_URI_CAPACITY)),
      Constant("ENROLL_TOKEN_TYPE_CAPACITY", Int64(ENROLL_TOKEN_TYPE_CAPACITY)),
      Constant("ENROLL_PKCE_CAPACITY", Int64(ENROLL_PKCE_CAPACITY)),
      Constant("ENROLL_ABI_VERSION", Int64(ENROLL_ABI_VERSION)),
      Constant("ENROLL_STORE_DIRECTORY", Int64(ENROLL_STORE_DIRECTORY)),
      Constant("ENROLL_STORE_MEMORY", Int64(ENROLL_STORE_MEMORY)),
      Constant("ENROLL_KEYS_FILE", Int64(ENROLL_KEYS_FILE)),
      Constant("ENROLL_KEYS_AUTO", Int64(ENROLL_KEYS_AUTO)),
      Constant("ENROLL_KEYS_SECRET_SERVICE", Int64(ENROLL_KEYS_SECRET_SERVICE)),
      Constant("ENROLL_KEYS_PASSPHRASE", Int64(ENROLL_KEYS_PASSPHRASE)),
      Constant("ENROLL_KEYS_HOST", Int64(ENROLL_KEYS_HOST)),
      Constant("ENROLL_SECRET_SIZE", Int64(ENROLL_SECRET_SIZE)),
    ]
  }

  private static var registration: [Constant] {
    [
      Constant("ENROLL_STATE_STARTING", Int64(ENROLL_STATE_STARTING)),
      Constant("ENROLL_STATE_UNREGISTERED", Int64(ENROLL_STATE_UNREGISTERED)),
      Constant("ENROLL_STATE_AUTHENTICATING", Int64(ENROLL_STATE_AUTHENTICATING)),
      Constant("ENROLL_STATE_AWAITING_CONFIRMATION", Int64(ENROLL_STATE_AWAITING_CONFIRMATION)),
      Constant("ENROLL_STATE_ACTIVE", Int64(ENROLL_STATE_ACTIVE)),
      Constant("ENROLL_STATE_RENEWAL_FAILED", Int64(ENROLL_STATE_RENEWAL_FAILED)),
      Constant("ENROLL_STATE_REGISTRATION_FAILED", Int64(ENROLL_STATE_REGISTRATION_FAILED)),
      Constant("ENROLL_STEP_NONE", Int64(ENROLL_STEP_NONE)),
      Constant("ENROLL_STEP_BROWSER", Int64(ENROLL_STEP_BROWSER)),
      Constant("ENROLL_STEP_EMAIL_PENDING", Int64(ENROLL_STEP_EMAIL_PENDING)),
      Constant("ENROLL_STEP_CODE_PENDING", Int64(ENROLL_STEP_CODE_PENDING)),
      Constant("ENROLL_STEP_OTHER_APP", Int64(ENROLL_STEP_OTHER_APP)),
      Constant("ENROLL_STEP_EXCHANGING", Int64(ENROLL_STEP_EXCHANGING)),
      Constant("ENROLL_STEP_PIN", Int64(ENROLL_STEP_PIN)),
      Constant("ENROLL_ACTIVE_REASON_NONE", Int64(ENROLL_ACTIVE_REASON_NONE)),
      Constant("ENROLL_ACTIVE_REASON_NOT_NATIVE", Int64(ENROLL_ACTIVE_REASON_NOT_NATIVE)),
      Constant("ENROLL_ACTIVE_REASON_VALID", Int64(ENROLL_ACTIVE_REASON_VALID)),
      Constant("ENROLL_ACTIVE_REASON_RENEWED", Int64(ENROLL_ACTIVE_REASON_RENEWED)),
      Constant("ENROLL_ACTIVE_REASON_CONFIRMED", Int64(ENROLL_ACTIVE_REASON_CONFIRMED)),
      Constant("ENROLL_REMEDY_NONE", Int64(ENROLL_REMEDY_NONE)),
      Constant("ENROLL_REMEDY_RETRY", Int64(ENROLL_REMEDY_RETRY)),
      Constant("ENROLL_REMEDY_WAIT", Int64(ENROLL_REMEDY_WAIT)),
      Constant("ENROLL_REMEDY_REGISTER_AGAIN", Int64(ENROLL_REMEDY_REGISTER_AGAIN)),
      Constant("ENROLL_KIND_SIGN_IN", Int64(ENROLL_KIND_SIGN_IN)),
      Constant("ENROLL_KIND_REGISTER", Int64(ENROLL_KIND_REGISTER)),
      Constant("ENROLL_KIND_PASSWORDLESS", Int64(ENROLL_KIND_PASSWORDLESS)),
      Constant("ENROLL_KIND_APP2APP", Int64(ENROLL_KIND_APP2APP)),
      Constant("ENROLL_KIND_BFF", Int64(ENROLL_KIND_BFF)),
      Constant("ENROLL_KIND_DEVICE", Int64(ENROLL_KIND_DEVICE)),
      Constant("ENROLL_MESSAGE_CODE", Int64(ENROLL_MESSAGE_CODE)),
      Constant("ENROLL_MESSAGE_LINK", Int64(ENROLL_MESSAGE_LINK)),
      Constant("ENROLL_ACTION_OPEN_URL", Int64(ENROLL_ACTION_OPEN_URL)),
      Constant("ENROLL_ACTION_ENTER_CODE", Int64(ENROLL_ACTION_ENTER_CODE)),
      Constant("ENROLL_ACTION_AWAIT_LINK", Int64(ENROLL_ACTION_AWAIT_LINK)),
      Constant("ENROLL_ACTION_OPEN_OTHER_APP", Int64(ENROLL_ACTION_OPEN_OTHER_APP)),
      Constant("ENROLL_ACTION_SHOW_DEVICE_CODE", Int64(ENROLL_ACTION_SHOW_DEVICE_CODE)),
      Constant("ENROLL_URL_REGISTRATION", Int64(ENROLL_URL_REGISTRATION)),
      Constant("ENROLL_URL_LOGOUT", Int64(ENROLL_URL_LOGOUT)),
      Constant("ENROLL_URL_UNSOLICITED", Int64(ENROLL_URL_UNSOLICITED)),
      Constant("ENROLL_URL_BEGUN", Int64(ENROLL_URL_BEGUN)),
      Constant("ENROLL_URL_LINK_USED", Int64(ENROLL_URL_LINK_USED)),
      Constant("ENROLL_URL_LINK_EXPIRED", Int64(ENROLL_URL_LINK_EXPIRED)),
      Constant("ENROLL_OFFER_SIGN_IN", Int64(ENROLL_OFFER_SIGN_IN)),
      Constant("ENROLL_OFFER_REGISTER", Int64(ENROLL_OFFER_REGISTER)),
    ]
  }

  private static var tokens: [Constant] {
    [
      Constant("ENROLL_ACCESS_VALID", Int64(ENROLL_ACCESS_VALID)),
      Constant("ENROLL_ACCESS_STALE", Int64(ENROLL_ACCESS_STALE)),
      Constant("ENROLL_TOKEN_ACCESS", Int64(ENROLL_TOKEN_ACCESS)),
      Constant("ENROLL_TOKEN_REFRESH", Int64(ENROLL_TOKEN_REFRESH)),
      Constant("ENROLL_PIN_UNLOCKED", Int64(ENROLL_PIN_UNLOCKED)),
      Constant("ENROLL_PIN_WRONG", Int64(ENROLL_PIN_WRONG)),
      Constant("ENROLL_PIN_TOO_SOON", Int64(ENROLL_PIN_TOO_SOON)),
      Constant("ENROLL_PIN_ERASED", Int64(ENROLL_PIN_ERASED)),
      Constant("ENROLL_TOLD_NOTHING", Int64(ENROLL_TOLD_NOTHING)),
      Constant("ENROLL_TOLD", Int64(ENROLL_TOLD)),
      Constant("ENROLL_TOLD_QUEUED", Int64(ENROLL_TOLD_QUEUED)),
      Constant("ENROLL_TOLD_NOT_POSSIBLE", Int64(ENROLL_TOLD_NOT_POSSIBLE)),
      Constant("ENROLL_BAND_FRESH", Int64(ENROLL_BAND_FRESH)),
      Constant("ENROLL_BAND_DUE", Int64(ENROLL_BAND_DUE)),
      Constant("ENROLL_BAND_EXPIRED", Int64(ENROLL_BAND_EXPIRED)),
      Constant("ENROLL_LOG_ERROR", Int64(ENROLL_LOG_ERROR)),
      Constant("ENROLL_LOG_WARNING", Int64(ENROLL_LOG_WARNING)),
      Constant("ENROLL_LOG_INFO", Int64(ENROLL_LOG_INFO)),
      Constant("ENROLL_LOG_DEBUG", Int64(ENROLL_LOG_DEBUG)),
    ]
  }

  private static var sizes: [Constant] {
    [
      size(of: enroll_error.self), size(of: enroll_client_options.self), size(of: enroll_state.self),
      size(of: enroll_begin_options.self), size(of: enroll_transaction.self), size(of: enroll_access.self),
      size(of: enroll_pkce.self), size(of: enroll_transport.self), size(of: enroll_keys.self),
      size(of: enroll_secret_store.self), size(of: enroll_clock.self), size(of: enroll_log.self),
      size(of: enroll_audience.self),
      Constant("sizeof(enroll_buf)", Int64(MemoryLayout<enroll_buf>.size)),
      Constant("sizeof(enroll_http_header)", Int64(MemoryLayout<enroll_http_header>.size)),
      Constant("sizeof(enroll_http_request)", Int64(MemoryLayout<enroll_http_request>.size)),
    ]
  }

  private static func size<Struct: SizedStruct>(of type: Struct.Type) -> Constant {
    Constant("sizeof(\(type.name))", Int64(MemoryLayout<Struct>.size))
  }
}

@_cdecl("enroll_constant") @implementation
public func enroll_constant(_ name: TextIn?, _ name_size: Int, _ value: Int64Out?) -> enroll_status {
  reporting(to: nil) { () throws(EnrollError) in
    let value = try require(value, "value")
    let name = try TextInput(name, name_size, "name").requiredText(limit: TextLimit.name)
    for constant in Constant.all where ASCII.equals(constant.name, name) {
      value.pointee = constant.value
      return
    }
    throw EnrollError(.notFound, "no such constant", field: "name")
  }
}

@_cdecl("enroll_constant_name") @implementation
public func enroll_constant_name(_ index: Int) -> UnsafePointer<CChar>! {
  let all = Constant.all
  return index >= 0 && index < all.count ? all[index].text.pointer : nil
}

private let versionString = PermanentText(LibraryVersion.string)

@_cdecl("enroll_abi_version") @implementation
public func enroll_abi_version() -> UInt32 { LibraryVersion.abi }

@_cdecl("enroll_version_string") @implementation
public func enroll_version_string() -> UnsafePointer<CChar>! { versionString.pointer }
