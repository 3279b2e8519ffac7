// Written by `make generate` from Texts/en.json. Do not edit it.

/// The texts of pages: `texts` in a catalogue.
enum PageText: String, Sendable, CaseIterable {
  case frameSkip = "frame.skip"
  case frameAbout = "frame.about"
  case frameLanguage = "frame.language"
  case framePrivacy = "frame.privacy"
  case frameTerms = "frame.terms"
  case frameImprint = "frame.imprint"
  case frameHelp = "frame.help"

  case signInTitle = "signIn.title"
  case signInLead = "signIn.lead"
  case signInWith = "signIn.with"
  case signInNoAccount = "signIn.noAccount"
  case signInToSignUp = "signIn.toSignUp"

  case signUpTitle = "signUp.title"
  case signUpLead = "signUp.lead"
  case signUpWith = "signUp.with"
  case signUpHaveAccount = "signUp.haveAccount"
  case signUpToSignIn = "signUp.toSignIn"

  case choiceProviders = "choice.providers"
  case choiceNone = "choice.none"
  case choiceForApp = "choice.forApp"
  case choiceCancel = "choice.cancel"
  case choiceSessionEnded = "choice.sessionEnded"
  case choiceSignInFirst = "choice.signInFirst"

  case failureTryAgain = "failure.tryAgain"
  case failureOtherWay = "failure.otherWay"
  case failureToStart = "failure.toStart"
  case failureReference = "failure.reference"
  case failureSomeProvider = "failure.someProvider"

  case pageToApp = "page.toApp"

  case formEmail = "form.email"
  case formName = "form.name"
  case formNameHint = "form.nameHint"
  case formPassword = "form.password"
  case formNewPassword = "form.newPassword"
  case formCurrentPassword = "form.currentPassword"
  case formPasswordHint = "form.passwordHint"
  case formHasErrors = "form.hasErrors"
  case formEmailEmpty = "form.emailEmpty"
  case formEmailMalformed = "form.emailMalformed"
  case formEmailTooLong = "form.emailTooLong"
  case formEmailNotAscii = "form.emailNotAscii"
  case formPasswordShort = "form.passwordShort"
  case formPasswordLong = "form.passwordLong"
  case formPasswordCommon = "form.passwordCommon"
  case formPasswordRefused = "form.passwordRefused"
  case formPasswordWrong = "form.passwordWrong"
  case formCurrentPasswordWrong = "form.currentPasswordWrong"

  case emailWith = "email.with"

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

  case accountTitle = "account.title"
  case accountProfile = "account.profile"
  case accountName = "account.name"
  case accountSince = "account.since"
  case accountWaysIn = "account.waysIn"
  case accountEmailConfirmed = "account.emailConfirmed"
  case accountEmailUnconfirmed = "account.emailUnconfirmed"
  case accountNoEmail = "account.noEmail"
  case accountSessions = "account.sessions"
  case accountSessionsLead = "account.sessionsLead"
  case accountThisBrowser = "account.thisBrowser"
  case accountActiveNow = "account.activeNow"
  case accountLastUsed = "account.lastUsed"
  case accountSignedInOn = "account.signedInOn"
  case accountEndSession = "account.endSession"
  case accountSignOut = "account.signOut"
  case accountEverywhereTitle = "account.everywhereTitle"
  case accountEverywhereLead = "account.everywhereLead"
  case accountSignOutEverywhere = "account.signOutEverywhere"
  case accountSessionWasEnded = "account.sessionWasEnded"
  case accountDisconnect = "account.disconnect"
  case accountConnectTitle = "account.connectTitle"
  case accountConnectLead = "account.connectLead"
  case accountConnectWith = "account.connectWith"
  case accountWasConnected = "account.wasConnected"
  case accountWasConnectedBefore = "account.wasConnectedBefore"
  case accountWasDisconnected = "account.wasDisconnected"
  case accountLastWay = "account.lastWay"
  case accountWasMerged = "account.wasMerged"
  case accountDataTitle = "account.dataTitle"
  case accountDataLead = "account.dataLead"
  case accountDownload = "account.download"
  case accountDelete = "account.delete"

  case pageToAccount = "page.toAccount"

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

  case dataDeletionDoneTitle = "dataDeletion.doneTitle"
  case dataDeletionDoneLead = "dataDeletion.doneLead"
  case dataDeletionUnknownTitle = "dataDeletion.unknownTitle"
  case dataDeletionUnknownLead = "dataDeletion.unknownLead"

  case deviceUnknown = "device.unknown"
  case deviceBrowserOnSystem = "device.browserOnSystem"
  case deviceAppOnDevice = "device.appOnDevice"

  case signedOutTitle = "signedOut.title"
  case signedOutHere = "signedOut.here"
  case signedOutEverywhere = "signedOut.everywhere"
  case signedOutStillAtProvider = "signedOut.stillAtProvider"
  case signedOutSignInAgain = "signedOut.signInAgain"

  case continueTitle = "continue.title"
  case continueWhat = "continue.what"
  case continueOpen = "continue.open"
  case continueHelp = "continue.help"

  case sendAgainTitle = "sendAgain.title"
  case sendAgainWhat = "sendAgain.what"
  case sendAgainButton = "sendAgain.button"

  case dateDay = "date.day"
  case dateMoment = "date.moment"

  /// The placeholders that the text must contain, each in braces. `{product}` is allowed in any text.
  var placeholders: Set<Placeholder> {
    switch self {
    case .signInWith: [.provider]
    case .signUpWith: [.provider]
    case .choiceForApp: [.app]
    case .choiceCancel: [.app]
    case .failureReference: [.reference]
    case .pageToApp: [.app]
    case .welcomeLead: [.email]
    case .linkSignInLead: [.email]
    case .linkSignInElsewhere: [.device]
    case .newPasswordLead: [.email]
    case .mailAskedBy: [.device]
    case .accountEmailConfirmed: [.provider]
    case .accountLastUsed: [.date]
    case .accountSignedInOn: [.date]
    case .accountConnectWith: [.provider]
    case .leavingTitle: [.provider]
    case .leavingOpen: [.provider]
    case .mergeLead: [.provider]
    case .deviceBrowserOnSystem: [.browser, .system]
    case .deviceAppOnDevice: [.app, .device]
    case .signedOutStillAtProvider: [.provider]
    case .continueTitle: [.app]
    case .continueWhat: [.app]
    case .continueOpen: [.app]
    case .continueHelp: [.app]
    case .sendAgainWhat: [.provider]
    case .dateDay: [.day, .month, .year]
    case .dateMoment: [.date, .time]
    default: []
    }
  }
}
