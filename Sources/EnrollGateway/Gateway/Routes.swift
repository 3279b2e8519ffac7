// All routes of the gateway, one row each. Any other path does not exist. A path with two methods has two rows.

import EnrollRules
import EnrollSteps
import EnrollGatewayPages
import EnrollHTTP

extension Route {
  static let all: [Route] = pages + email + signIn + programs + files

  /// The pages about the account of the browser's user.
  private static let pages: [Route] = [
    Route(.get, "/", for: .users, waitsFor: .databaseWithSession) { $0.account.startPage },
    Route(
      .get, "/login", for: .users, waitsFor: .nothing,
      "shows the choice of providers. `return_to` is one of the URLs in `returnTo`"
    ) { $0.account.signInChoice },
    Route(.get, "/signup", for: .users, waitsFor: .nothing, "the same, for new users") {
      $0.account.signUpChoice
    },
    Route(
      .get, "/account", for: .users, waitsFor: .databaseWithSession,
      "shows the user's account and where the user is signed in"
    ) { $0.account.accountPage },
    Route(.post, "/signout", for: .users, waitsFor: .database) { $0.account.signOut },
    Route(.get, "/signed-out", for: .users, waitsFor: .nothing) { gateway in
      { gateway.services.views.signedOut(isEverywhere: false, for: $0) }
    },
    Route(.get, "/signed-out-everywhere", for: .users, waitsFor: .nothing) { gateway in
      { gateway.services.views.signedOut(isEverywhere: true, for: $0) }
    },
    Route(.post, "/account/sessions/end", for: .users, waitsFor: .database) { $0.account.endSession },
    Route(.post, "/account/sessions/end-all", for: .users, waitsFor: .database) { $0.account.endAllSessions },
    Route(.post, "/account/connect", for: .users, waitsFor: .provider) { $0.linking.connect },
    Route(.post, "/account/disconnect", for: .users, waitsFor: .provider) { $0.linking.disconnect },
    Route(.get, "/account/confirm", for: .users, waitsFor: .database) { $0.linking.confirmPage },
    Route(.post, "/account/confirm/start", for: .users, waitsFor: .provider) { $0.linking.startConfirming },
    Route(.get, "/account/merge", for: .users, waitsFor: .database) { $0.linking.mergePage },
    Route(.post, "/account/merge/confirm", for: .users, waitsFor: .database) { $0.linking.mergeAccounts },
    Route(.post, "/account/export", for: .users, waitsFor: .database) { $0.deletion.export },
    Route(.get, "/account/delete", for: .users, waitsFor: .database) { $0.deletion.deletePage },
    Route(.post, "/account/delete/confirm", for: .users, waitsFor: .provider) { $0.deletion.deleteAccount },
    Route(.get, "/account-deleted", for: .users, waitsFor: .nothing) { gateway in
      { gateway.services.views.deleted(for: $0) }
    },
    Route(
      .get, "/data-deletion", for: .users, waitsFor: .database,
      "shows the status of a deletion that a user requested at Facebook, by its `code`"
    ) { $0.requests.deletionStatus },
  ]

  /// The pages for users who register or sign in by e-mail. GET shows a form and changes nothing, because mail scanners
  /// open every link; POST submits the form.
  private static let email: [Route] = [
    .email(.get, "/register", waitsFor: .nothing) { $0.registerPage },
    .email(.post, "/register", waitsFor: .provider) { $0.register },
    .email(.get, "/register/email-sent", waitsFor: .nothing) { email in
      { (request) throws(Interruption) in try email.emailSent(.register, again: "/register", for: request) }
    },
    .link(.get, "/welcome/{token}", waitsFor: .database) { $0.welcomePage },
    .link(.post, "/welcome/{token}", waitsFor: .provider) { $0.welcome },
    .email(.get, "/signin", waitsFor: .nothing) { $0.emailSignInPage },
    .email(.post, "/signin", waitsFor: .provider) { $0.emailSignIn },
    .email(.get, "/signin/email-sent", waitsFor: .nothing) { email in
      { (request) throws(Interruption) in try email.emailSent(.signIn, again: "/signin", for: request) }
    },
    .link(.get, "/signin/{token}", waitsFor: .database) { $0.linkPage },
    .link(.post, "/signin/{token}", waitsFor: .provider) { $0.signInByLink },
    .email(.get, "/password/forgotten", waitsFor: .nothing, needsPasswords: true) {
      $0.forgottenPage
    },
    .email(.post, "/password/forgotten", waitsFor: .provider, needsPasswords: true) {
      $0.forgotten
    },
    .email(.get, "/password/forgotten/email-sent", waitsFor: .nothing, needsPasswords: true) { email in
      { (request) throws(Interruption) in
        try email.emailSent(.reset, again: "/password/forgotten", for: request)
      }
    },
    .link(.get, "/password/reset/{token}", waitsFor: .database, needsPasswords: true) {
      $0.resetPage
    },
    .link(.post, "/password/reset/{token}", waitsFor: .provider, needsPasswords: true) { $0.reset },
    .email(.get, "/account/password", waitsFor: .database, needsPasswords: true) {
      $0.passwordChange.changePage
    },
    .email(.post, "/account/password", waitsFor: .provider, needsPasswords: true) {
      $0.passwordChange.change
    },
  ]

  /// The routes for sign-in at a provider, and for the requests that providers send.
  private static let signIn: [Route] = [
    .named(
      .get, "/v1/auth/{provider}", for: .users, waitsFor: .provider, limit: .start,
      "begins a sign-in. An app sends `platform=mobile` with `code_challenge`, `code_challenge_method=S256` and "
        + "`state`; `app` names the app if there are several", exists: Self.isSignIn
    ) { $0.starts.start },
    .provider(
      .changingGet, "/v1/auth/{provider}/callback", for: .users, waitsFor: .provider, limit: .callback,
      "receives the browser back from the provider"
    ) { $0.callback.handleCallback },
    // This row has no `limit`, because the step itself counts these requests against the limit, after it has refused
    // the providers that do not answer by form.
    .named(
      .post, "/v1/auth/{provider}/callback", for: .users, waitsFor: .provider,
      "the same, for a provider that answers by form, such as Apple",
      exists: { gateway, name in (try? gateway.services.provider(name))?.answersByForm ?? false }
    ) { $0.callback.handleFormCallback },
    .named(
      .post, "/v1/auth/{provider}/redeem", for: .programs, waitsFor: .database, limit: .redeem,
      "exchanges an app's one-time code and verifier for a session token", exists: Self.isSignIn
    ) { $0.apps.redeem },
    .provider(
      .post, "/v1/auth/{provider}/backchannel-logout", for: .programs, waitsFor: .provider,
      "receives the provider's notice that a user signed out there"
    ) { $0.requests.receiveLogout },
    .provider(
      .post, "/v1/auth/{provider}/notifications", for: .programs, waitsFor: .provider,
      "receives Apple's notice that a user withdrew consent or deleted the account there",
      at: { $0.notificationAudiences != nil }
    ) { $0.requests.receiveNotification },
    .provider(
      .post, "/v1/auth/{provider}/data-deletion", for: .programs, waitsFor: .database,
      "receives [Facebook's request](docs/gateway/providers.md#facebook) when a user asks there for the deletion of their data",
      at: { $0.requestSecret != nil }
    ) { $0.requests.deleteData },
    .provider(
      .post, "/v1/auth/{provider}/deauthorize", for: .programs, waitsFor: .database,
      "receives Facebook's notice that a user removed the app", at: { $0.requestSecret != nil }
    ) { $0.requests.deauthorize },
  ]

  /// Whether the name is a provider's, or means sign-in by e-mail.
  private static let isSignIn: Existence = { gateway, name in
    gateway.services.isEmail(name) || (try? gateway.services.provider(name)) != nil
  }

  /// Apps and APIs.
  private static let programs: [Route] = [
    Route(
      .get, "/v1/userinfo", for: .programs, waitsFor: .database,
      "answers [EnrollKit's request to a back end](docs/back-end.md) for the user's claims, with the session token as the "
        + "bearer token"
    ) { $0.apps.userinfo },
    Route(
      .post, "/v1/registration-check", for: .programs, waitsFor: .database,
      "answers whether the session still lives, with the session token as the bearer token"
    ) { $0.apps.registrationCheck },
    Route(
      .post, "/v1/profile", for: .programs, waitsFor: .database,
      "receives the profile of an app's user, with the session token as the bearer token"
    ) { $0.apps.receiveProfile },
    Route(
      .post, "/v1/error-reports", for: .programs, waitsFor: .database,
      "logs failures that apps report, without a token; at most a hundred in ten seconds"
    ) { $0.apps.receiveErrorReport },
    Route(.post, "/v1/revoke", for: .programs, waitsFor: .database, "ends a session (RFC 7009)") {
      $0.apps.revoke
    },
    Route(
      .post, "/v1/token", for: .programs, waitsFor: .database,
      "issues [an access token](docs/gateway/accounts.md#access-tokens-for-your-apis) for your APIs"
    ) { $0.tokens.accessToken },
    Route(
      .get, "/v1/keys", for: .programs, waitsFor: .nothing, "lists the keys that verify access tokens"
    ) { $0.tokens.publicKeys },
    Route(
      .get, ProviderMetadata.wellKnownPath, for: .programs, waitsFor: .nothing,
      "tells EnrollKit the userinfo and revocation endpoints"
    ) { $0.apps.discovery },
  ]

  /// The routes for files, and for the probes of load balancers.
  private static let files: [Route] = [
    Route(
      .get, AppAssociations.androidPath, for: .programs, waitsFor: .nothing,
      "states which Android app opens links to this host"
    ) { gateway in { _ in AppAssociations.android(gateway.services.settings.apps) } },
    Route(
      .get, AppAssociations.applePath, for: .programs, waitsFor: .nothing,
      "states which app of Apple's systems opens links to this host"
    ) { gateway in
      { _ in
        AppAssociations.apple(
          gateway.services.settings.apps, publicOrigin: gateway.services.settings.publicURL)
      }
    },
    Route(.get, "/assets/{name}", for: .users, waitsFor: .nothing) { $0.services.views.asset },
    Route(
      .get, "/livez", for: .programs, waitsFor: .nothing, isProbe: true, "answers 204 while the program runs"
    ) { _ in { _ in WebResponse(204) } },
    Route(
      .get, "/readyz", for: .programs, waitsFor: .nothing, isProbe: true,
      "answers 204 while the gateway's database answers, otherwise 503"
    ) { $0.readiness.answer },
  ]
}
