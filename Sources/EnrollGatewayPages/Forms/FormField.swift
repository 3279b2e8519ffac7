// The fields that users fill in. Each field has a label, a hint about the expected value, and an error beside it that
// screen readers read with the field (WCAG 2.2, 3.3.1 and 3.3.2). `autocomplete` tells browsers what to fill in
// (1.3.5). Users can paste passwords.

/// An error in the value of a field.
public enum FieldError: Sendable, Equatable {
  case emailEmpty, emailMalformed, emailTooLong, emailNotASCII
  case passwordShort, passwordLong, passwordCommon, passwordRefused
  /// The address or the password is wrong; the text does not say which.
  case passwordWrong
  case currentPasswordWrong

  var text: PageText {
    switch self {
    case .emailEmpty: .formEmailEmpty
    case .emailMalformed: .formEmailMalformed
    case .emailTooLong: .formEmailTooLong
    case .emailNotASCII: .formEmailNotAscii
    case .passwordShort: .formPasswordShort
    case .passwordLong: .formPasswordLong
    case .passwordCommon: .formPasswordCommon
    case .passwordRefused: .formPasswordRefused
    case .passwordWrong: .formPasswordWrong
    case .currentPasswordWrong: .formCurrentPasswordWrong
    }
  }
}

/// One field of a form.
struct FormField {
  /// The name of the field, and the id of its element.
  let name: StaticString
  let label: PageText
  let type: StaticString
  let autocomplete: StaticString
  var hint: PageText?
  var value: String?
  var error: FieldError?
  var isRequired = true

  static func email(_ value: String?, error: FieldError? = nil) -> FormField {
    FormField(
      name: "email", label: .formEmail, type: "email", autocomplete: "username", value: value, error: error)
  }

  static func name(_ value: String?) -> FormField {
    FormField(
      name: "name", label: .formName, type: "text", autocomplete: "name", hint: .formNameHint, value: value,
      isRequired: false)
  }

  static func password(error: FieldError? = nil) -> FormField {
    FormField(
      name: "password", label: .formPassword, type: "password", autocomplete: "current-password", error: error
    )
  }

  static func newPassword(error: FieldError? = nil) -> FormField {
    FormField(
      name: "new-password", label: .formNewPassword, type: "password", autocomplete: "new-password",
      hint: .formPasswordHint, error: error)
  }

  static func currentPassword(error: FieldError? = nil) -> FormField {
    FormField(
      name: "password", label: .formCurrentPassword, type: "password", autocomplete: "current-password",
      error: error)
  }
}

extension HTML {
  mutating func field(_ field: FormField, _ texts: Texts) {
    element(.div, .class("field")) { html in
      html.element(.label, .for(field.name), phrase: texts(field.label))
      if let hint = field.hint {
        html.element(.p, .class("hint"), .id(field.name, suffix: "hint"), phrase: texts(hint))
      }
      if let error = field.error {
        html.element(.p, .class("error"), .id(field.name, suffix: "error"), phrase: texts(error.text))
      }
      var attributes: [Attribute] = [
        .type(field.type), .id(field.name), .name(field.name), .autocomplete(field.autocomplete),
      ]
      if field.isRequired { attributes.append(.required) }
      if let value = field.value { attributes.append(.value(value)) }
      let described = [
        field.error == nil ? nil : "error" as StaticString, field.hint == nil ? nil : "hint" as StaticString,
      ].compactMap { $0 }
      if !described.isEmpty { attributes.append(.describedBy(field.name, suffixes: described)) }
      if field.error != nil { attributes.append(.invalid) }
      html.void(.input, with: attributes)
    }
  }
}
