// Every text that a page can show, by a key, and the values that go into it. Catalogues are read against this list, so that a key
// which no page uses, a missing text and a missing value are found when the program starts.

/// The texts of pages: `texts` in a catalogue.
enum PageText: String, Sendable, CaseIterable {
  case skip = "frame.skip"
  case about = "frame.about"
  case language = "frame.language"
  case privacy = "frame.privacy"
  case terms = "frame.terms"
  case imprint = "frame.imprint"
  case help = "frame.help"

  case signInTitle = "signIn.title"
  case signInLead = "signIn.lead"
  case signInWith = "signIn.with"
  case noAccount = "signIn.noAccount"
  case toSignUp = "signIn.toSignUp"
  case signUpTitle = "signUp.title"
  case signUpLead = "signUp.lead"
  case signUpWith = "signUp.with"
  case haveAccount = "signUp.haveAccount"
  case toSignIn = "signUp.toSignIn"
  case providers = "choice.providers"
  case noProviders = "choice.none"
  case forApp = "choice.forApp"
  case cancel = "choice.cancel"
  case sessionEnded = "choice.sessionEnded"
  case signInFirst = "choice.signInFirst"

  case tryAgain = "failure.tryAgain"
  case otherWay = "failure.otherWay"
  case toStart = "failure.toStart"
  case reference = "failure.reference"
  case someProvider = "failure.someProvider"

  case email = "form.email"
  case fieldName = "form.name"
  case nameHint = "form.nameHint"
  case password = "form.password"
  case newPassword = "form.newPassword"
  case currentPassword = "form.currentPassword"
  case passwordHint = "form.passwordHint"
  case formHasErrors = "form.hasErrors"
  case emailEmpty = "form.emailEmpty"
  case emailMalformed = "form.emailMalformed"
  case emailTooLong = "form.emailTooLong"
  case emailNotASCII = "form.emailNotAscii"
  case passwordShort = "form.passwordShort"
  case passwordLong = "form.passwordLong"
  case passwordCommon = "form.passwordCommon"
  case passwordRefused = "form.passwordRefused"
  case passwordWrong = "form.passwordWrong"
  case currentPasswordWrong = "form.currentPasswordWrong"

  case withEmail = "email.with"
  case registerTitle = "register.title"
  case registerLead = "register.lead"
  case registerSend = "register.send"
  case registerOther = "register.other"
  case emailSentTitle = "emailSent.title"
  case emailSentRegister = "emailSent.register"
  case emailSentSignIn = "emailSent.signIn"
  case emailSentReset = "emailSent.reset"
  case emailSentHelp = "emailSent.help"
  case emailSentAgain = "emailSent.again"
  case welcomeTitle = "welcome.title"
  case welcomeLead = "welcome.lead"
  case welcomePassword = "welcome.password"
  case welcomeFinish = "welcome.finish"
  case emailSignInTitle = "emailSignIn.title"
  case emailSignInLead = "emailSignIn.lead"
  case emailSignInLinkLead = "emailSignIn.linkLead"
  case emailSignInSend = "emailSignIn.send"
  case emailSignInSubmit = "emailSignIn.submit"
  case emailSignInForgotten = "emailSignIn.forgotten"
  case linkSignInTitle = "linkSignIn.title"
  case linkSignInLead = "linkSignIn.lead"
  case linkSignInElsewhere = "linkSignIn.elsewhere"
  case linkSignInSubmit = "linkSignIn.submit"
  case forgottenTitle = "forgotten.title"
  case forgottenLead = "forgotten.lead"
  case forgottenSend = "forgotten.send"
  case newPasswordTitle = "newPassword.title"
  case newPasswordLead = "newPassword.lead"
  case newPasswordSave = "newPassword.save"
  case changePasswordTitle = "changePassword.title"
  case changePasswordLead = "changePassword.lead"
  case mailAskedBy = "mail.askedBy"
  case mailLinkHelp = "mail.linkHelp"
  case toApp = "page.toApp"

  case accountTitle = "account.title"
  case profile = "account.profile"
  case name = "account.name"
  case since = "account.since"
  case waysIn = "account.waysIn"
  case emailConfirmed = "account.emailConfirmed"
  case emailUnconfirmed = "account.emailUnconfirmed"
  case noEmail = "account.noEmail"
  case sessions = "account.sessions"
  case sessionsLead = "account.sessionsLead"
  case thisBrowser = "account.thisBrowser"
  case activeNow = "account.activeNow"
  case lastUsed = "account.lastUsed"
  case signedInOn = "account.signedInOn"
  case endSession = "account.endSession"
  case signOut = "account.signOut"
  case everywhereTitle = "account.everywhereTitle"
  case everywhereLead = "account.everywhereLead"
  case signOutEverywhere = "account.signOutEverywhere"
  case sessionWasEnded = "account.sessionWasEnded"
  case disconnect = "account.disconnect"
  case connectTitle = "account.connectTitle"
  case connectLead = "account.connectLead"
  case connectWith = "account.connectWith"
  case wasConnected = "account.wasConnected"
  case wasConnectedBefore = "account.wasConnectedBefore"
  case wasDisconnected = "account.wasDisconnected"
  case lastWay = "account.lastWay"
  case wasMerged = "account.wasMerged"
  case dataTitle = "account.dataTitle"
  case dataLead = "account.dataLead"
  case download = "account.download"
  case deleteAccount = "account.delete"
  case toAccount = "page.toAccount"
  case leavingTitle = "leaving.title"
  case leavingLead = "leaving.lead"
  case leavingOpen = "leaving.open"
  case confirmTitle = "confirm.title"
  case confirmLead = "confirm.lead"
  case mergeTitle = "merge.title"
  case mergeLead = "merge.lead"
  case mergeWays = "merge.ways"
  case mergeSessions = "merge.sessions"
  case mergeKept = "merge.kept"
  case mergeJoin = "merge.join"
  case mergeLeave = "merge.leave"
  case deleteTitle = "delete.title"
  case deleteLead = "delete.lead"
  case deleteWays = "delete.ways"
  case deleteSessions = "delete.sessions"
  case deleteApps = "delete.apps"
  case deleteAgain = "delete.again"
  case deleteForGood = "delete.forGood"
  case deleteKeep = "delete.keep"
  case deletedTitle = "deleted.title"
  case deletedLead = "deleted.lead"
  case dataDeletedTitle = "dataDeletion.doneTitle"
  case dataDeletedLead = "dataDeletion.doneLead"
  case dataDeletionUnknownTitle = "dataDeletion.unknownTitle"
  case dataDeletionUnknownLead = "dataDeletion.unknownLead"
  case unknownDevice = "device.unknown"
  case browserOnSystem = "device.browserOnSystem"
  case appOnDevice = "device.appOnDevice"

  case signedOutTitle = "signedOut.title"
  case signedOutHere = "signedOut.here"
  case signedOutEverywhere = "signedOut.everywhere"
  case stillAtProvider = "signedOut.stillAtProvider"
  case signInAgain = "signedOut.signInAgain"

  case continueTitle = "continue.title"
  case continueWhat = "continue.what"
  case continueOpen = "continue.open"
  case continueHelp = "continue.help"

  case sendAgainTitle = "sendAgain.title"
  case sendAgainWhat = "sendAgain.what"
  case sendAgainButton = "sendAgain.button"

  case day = "date.day"
  case moment = "date.moment"

  /// The values that the text must contain, each in braces. `{product}` may be in any text.
  var placeholders: Set<Placeholder> {
    switch self {
    case .signInWith, .signUpWith, .emailConfirmed, .stillAtProvider, .connectWith, .leavingTitle,
      .leavingOpen, .mergeLead, .sendAgainWhat:
      [.provider]
    case .forApp, .cancel, .toApp, .continueTitle, .continueWhat, .continueOpen, .continueHelp: [.app]
    case .reference: [.reference]
    case .lastUsed, .signedInOn: [.date]
    case .welcomeLead, .linkSignInLead, .newPasswordLead: [.email]
    case .linkSignInElsewhere, .mailAskedBy: [.device]
    case .browserOnSystem: [.browser, .system]
    case .appOnDevice: [.app, .device]
    case .day: [.day, .month, .year]
    case .moment: [.date, .time]
    default: []
    }
  }
}

/// What stands in braces in a text, and is put in when a page is made.
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

  /// Its place in a catalogue: `texts.signIn.title`, `failures.cancelled.help`.
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
    case .failure(let failure, .what): failure.namesProvider ? [.provider] : []
    case .failure: []
    case .mail(let mail, .what): mail.namesProvider ? [.provider] : []
    case .mail: []
    }
  }
}
