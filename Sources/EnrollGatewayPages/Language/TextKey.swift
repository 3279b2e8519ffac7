// The keys of all texts, with their placeholders. Catalogues are checked against them at the start of the
// program: unknown keys, missing texts and missing placeholders are errors. The English catalogue defines the
// list of texts.

/// A name in braces in a text, which is replaced by a value when a page is made.
enum Placeholder: String, Sendable, CaseIterable {
  case product, provider, app, reference, email, browser, system, device, date, time, day, month, year
}

/// A text of a catalogue: one of ``PageText``, a part of a failure, or a part of a mail.
enum TextKey: Hashable, Sendable, CaseIterable {
  case text(PageText)
  case failure(Failure, FailurePart)
  case mail(Mail, MailPart)

  static let allCases =
    PageText.allCases.map(TextKey.text)
    + Failure.allCases.flatMap { failure in FailurePart.allCases.map { .failure(failure, $0) } }
    + Mail.allCases.flatMap { mail in mail.parts.map { .mail(mail, $0) } }

  /// The path in a catalogue: `texts.signIn.title`, `failures.cancelled.help`.
  var path: String {
    switch self {
    case .text(let text): "texts." + text.rawValue
    case .failure(let failure, let part): "failures." + failure.rawValue + "." + part.rawValue
    case .mail(let mail, let part): "mails." + mail.rawValue + "." + part.rawValue
    }
  }

  var placeholders: Set<Placeholder> {
    switch self {
    case .text(let text): text.placeholders
    case .failure(let failure, .explanation): failure.namesProvider ? [.provider] : []
    case .failure: []
    case .mail(let mail, .explanation): mail.namesProvider ? [.provider] : []
    case .mail: []
    }
  }
}
