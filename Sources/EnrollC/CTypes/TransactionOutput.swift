// C structs for the options of a sign-in and for the transaction that a sign-in begins.

public import CEnroll
import EnrollRules
import EnrollCrypto
import EnrollJSON

extension enroll_transaction {
  init(_ begun: Transaction) {
    self.init()
    switch begun.action {
    case .openURL: action = ENROLL_ACTION_OPEN_URL
    case .enterCode: action = ENROLL_ACTION_ENTER_CODE
    case .awaitLink: action = ENROLL_ACTION_AWAIT_LINK
    case .openOtherApp: action = ENROLL_ACTION_OPEN_OTHER_APP
    case .showDeviceCode(let code):
      action = ENROLL_ACTION_SHOW_DEVICE_CODE
      CharacterArray.write(code.userCode, to: &user_code)
      CharacterArray.write(code.verificationURI, to: &verification_uri)
    }
    survives_process = begun.survivesProcess ? 1 : 0
    expires_at = begun.expiresAt.seconds
    url_expires_at = begun.urlExpiresAt?.seconds ?? 0
    CharacterArray.write(begun.transactionID.text, to: &id)
  }
}

extension SignInOptions {
  /// - Throws: `.invalidArgument` with the name of the member that is invalid.
  init(_ options: UnsafePointer<enroll_begin_options>?) throws(EnrollError) {
    self.init()
    guard let options else { return }
    let given = try enroll_begin_options(reading: options)
    guard (ENROLL_KIND_SIGN_IN...ENROLL_KIND_DEVICE).contains(given.kind) else {
      throw EnrollError(.invalidArgument, "kind must be ENROLL_KIND_*, got \(given.kind)", field: "kind")
    }
    guard given.message == ENROLL_MESSAGE_CODE || given.message == ENROLL_MESSAGE_LINK else {
      throw EnrollError(
        .invalidArgument, "message must be ENROLL_MESSAGE_*, got \(given.message)", field: "message")
    }
    kind = Self.kind(given.kind)
    opensLater = given.opens_later != 0
    message = given.message == ENROLL_MESSAGE_LINK ? .link : .code
    connection = try Self.text(given.connection, given.connection_size, "connection")
    recipient = try Recipient(
      email: try Self.text(given.email, given.email_size, "email"),
      phoneNumber: try Self.text(given.phone_number, given.phone_number_size, "phone_number"))
    if given.has_max_age != 0 { maxAgeSeconds = given.max_age_seconds }
    if let list = try Self.list(given.scopes, given.scopes_size, "scopes") { scopes = list }
    prompt = try Self.text(given.prompt, given.prompt_size, "prompt")
    loginHint = try Self.text(given.login_hint, given.login_hint_size, "login_hint")
    uiLocales = try Self.list(given.ui_locales, given.ui_locales_size, "ui_locales") ?? []
    acrValues = try Self.list(given.acr_values, given.acr_values_size, "acr_values") ?? []
    let hint = TextInput(given.id_token_hint, given.id_token_hint_size, "id_token_hint")
    idTokenHint = try hint.text(limit: TextLimit.parameters).map { Secret($0) }
    parameters = try Self.parameters(given)
  }

  /// The kind for a number that was checked before.
  private static func kind(_ number: Int32) -> TransactionKind {
    switch number {
    case ENROLL_KIND_REGISTER: .register
    case ENROLL_KIND_PASSWORDLESS: .passwordless
    case ENROLL_KIND_APP2APP: .app2app
    case ENROLL_KIND_BFF: .bff
    case ENROLL_KIND_DEVICE: .device
    default: .signIn
    }
  }

  private static func text(
    _ pointer: UnsafePointer<CChar>?, _ size: Int, _ name: String
  ) throws(EnrollError) -> String? {
    try TextInput(pointer, size, name).text(limit: TextLimit.parameter)
  }

  private static func list(
    _ pointer: UnsafePointer<CChar>?, _ size: Int, _ name: String
  ) throws(EnrollError) -> [String]? {
    guard let text = try text(pointer, size, name) else { return nil }
    return Scopes.split(text)
  }

  private static func parameters(_ options: enroll_begin_options) throws(EnrollError) -> [(String, String)] {
    let text = TextInput(options.parameters, options.parameters_size, "parameters")
    guard let bytes = try text.bytes(limit: TextLimit.parameters) else { return [] }
    guard let object = try JSONInput.parse(bytes, "parameters").object else {
      throw EnrollError(.invalidArgument, "parameters must be a JSON object", field: "parameters")
    }
    var parameters: [(String, String)] = []
    for member in object.members {
      guard let value = member.value.string else {
        throw EnrollError(
          .invalidArgument, "parameters must be strings, got \(member.value.kind)", field: "parameters")
      }
      parameters.append((member.key, value))
    }
    return parameters
  }
}

@_cdecl("enroll_begin_options_init") @implementation
public func enroll_begin_options_init(
  _ options: UnsafeMutablePointer<enroll_begin_options>?, _ struct_size: Int
) {
  enroll_begin_options.initialize(options, size: struct_size)
}

@_cdecl("enroll_transaction_init") @implementation
public func enroll_transaction_init(_ transaction: TransactionOut?, _ struct_size: Int) {
  enroll_transaction.initialize(transaction, size: struct_size)
}
