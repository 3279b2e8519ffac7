// Every page, in every variant, for the tests of all pages.

@testable import EnrollGatewayPages

/// The outside data of the pages.
struct SampleValues {
  var product = "Notes"
  var provider = "Google"
  var app = "Notes for Android"
  var name = "Ada Lovelace"
  var email = "ada@example.org"
  var device = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
  var reference = "7f3a91"
  var session = "0193-session"
  var token = "form-token"

  /// One text in every field.
  static func everywhere(_ text: String) -> SampleValues {
    // The name has no control characters, because the program would refuse them at its start.
    SampleValues(
      product: String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 }.prefix(12))),
      provider: text, app: text, name: text, email: text, device: text,
      reference: text, session: text, token: text)
  }
}

struct SamplePages {
  let pages: Pages
  let values: SampleValues
  static let now: Int64 = 1_795_514_700  // 24 November 2026, 10:05

  init(_ values: SampleValues = SampleValues(), languages: Languages? = nil, links: Bool = true) throws {
    let foot =
      links
      ? Theme.Links(
        help: try PageLink(path: "/help"), privacy: try PageLink(path: "/privacy"),
        terms: try PageLink(path: "/terms"), imprint: try PageLink(path: "/imprint")) : Theme.Links()
    let product = values.product.isEmpty ? "Notes" : values.product
    pages = Pages(
      theme: try Theme(product: product, links: foot), languages: try languages ?? Languages())
    self.values = values
  }

  func all(in language: Language) throws -> [(name: String, content: PageContent)] {
    var context = PageContext(language)
    for other in pages.languages.all where other != language {
      context.otherLanguages.append((other, try PageLink(path: "/login?ui_locales=" + other.tag.text)))
    }
    return try choices(context) + failures(context) + account(context) + changes(context) + parting(context)
      + forms(context)
  }

  private var app: WaitingApp {
    get throws {
      WaitingApp(
        name: values.app, link: try PageLink(app: "com.example.notes:/cb?error=access_denied&state=a%20b"))
    }
  }

  private func choices(_ context: PageContext) throws -> [(String, PageContent)] {
    let providers = [
      ChoicePage.Provider(
        label: values.provider, link: try PageLink(path: "/v1/auth/google?return_to=%2Faccount&a=1"),
        sign: ProviderSign(named: "google")),
      ChoicePage.Provider(
        label: "GitHub", link: try PageLink(path: "/v1/auth/github"), sign: ProviderSign(named: "github")),
      ChoicePage.Provider(
        label: "Stadtwerke Musterstadt – Mitarbeiterportal", link: try PageLink(path: "/v1/auth/city")),
      ChoicePage.Provider(
        label: "Apple", link: try PageLink(path: "/v1/auth/apple"),
        sign: .picture(try PageLink(path: "/files/apple.svg"))),
    ]
    var byEmail = ChoicePage(.signIn, providers: providers)
    byEmail.email = try PageLink(path: "/signin")
    return [
      ("sign-in-email", pages.page(byEmail, in: context)),
      (
        "sign-in",
        pages.page(
          ChoicePage(.signIn, providers: providers, other: try PageLink(path: "/signup")), in: context)
      ),
      (
        "sign-up",
        pages.page(
          ChoicePage(.signUp, providers: providers, other: try PageLink(path: "/login"), app: try app),
          in: context)
      ),
      (
        "sign-in-ended",
        pages.page(ChoicePage(.signIn, providers: providers, notice: .sessionEnded), in: context)
      ),
      (
        "sign-in-first",
        pages.page(ChoicePage(.signIn, providers: providers, notice: .signInFirst), in: context)
      ),
      ("sign-in-none", pages.page(ChoicePage(.signIn, providers: []), in: context)),
    ]
  }

  private func failures(_ context: PageContext) throws -> [(String, PageContent)] {
    var made = try Failure.allCases.map { failure in
      (
        "failure-" + failure.rawValue,
        pages.page(
          FailurePage(
            failure, provider: values.provider, retry: try PageLink(path: "/v1/auth/google"),
            otherWay: try PageLink(path: "/login"), app: try app, reference: values.reference), in: context)
      )
    }
    made.append(
      (
        "failure-without-provider",
        pages.page(FailurePage(.providerRefused, start: try PageLink(path: "/")), in: context)
      ))
    return made
  }

  private func account(_ context: PageContext) throws -> [(String, PageContent)] {
    let actions = try AccountPage.Actions(
      endSession: PageLink(path: "/account/sessions/end"), signOut: PageLink(path: "/logout"),
      signOutEverywhere: PageLink(path: "/logout/everywhere"), connect: PageLink(path: "/account/connect"),
      disconnect: PageLink(path: "/account/disconnect"), export: PageLink(path: "/account/export"),
      deletion: PageLink(path: "/account/delete"), password: PageLink(path: "/account/password"))
    let day: Int64 = 86_400
    var account = AccountPage(
      name: values.name, created: Self.now - 400 * day,
      identities: [
        AccountPage.Identity(
          id: "google " + values.name, label: values.provider, sign: ProviderSign(named: "google"),
          email: values.email, isEmailVerified: true),
        AccountPage.Identity(
          id: "github 1", label: "GitHub", sign: ProviderSign(named: "github"), email: values.email),
        AccountPage.Identity(id: "facebook 1", label: "Facebook", sign: ProviderSign(named: "facebook")),
      ],
      sessions: [
        AccountPage.Session(
          id: "0193-tablet", device: nil, created: Self.now - 20 * day, lastSeen: Self.now - 3 * day),
        AccountPage.Session(
          id: "0193-current", device: values.device, created: Self.now - day, lastSeen: Self.now,
          isCurrent: true),
        AccountPage.Session(
          id: values.session, app: values.app, device: values.device, created: Self.now - 90 * day,
          lastSeen: Self.now - 60),
      ], connections: methods, actions: actions, token: FormToken(value: values.token), now: Self.now)
    let whole = pages.page(account, in: context)
    let told = AccountPage.Notice.allCases.map { notice in
      account.notice = notice
      account.identities.removeLast(account.identities.count - 1)
      return ("account-" + notice.rawValue, pages.page(account, in: context))
    }
    account.notice = .sessionEnded
    account.sessions.remove(at: 1)
    account.name = nil
    return [("account", whole), ("account-from-an-app", pages.page(account, in: context))] + told
  }

  private var methods: [ConfirmPage.SignInMethod] {
    [
      ConfirmPage.SignInMethod(name: "google", label: values.provider, sign: ProviderSign(named: "google")),
      ConfirmPage.SignInMethod(name: "city", label: "Stadtwerke Musterstadt – Mitarbeiterportal"),
    ]
  }

  private func changes(_ context: PageContext) throws -> [(String, PageContent)] {
    let (account, token) = (try PageLink(path: "/account"), FormToken(value: values.token))
    return [
      (
        "leaving",
        pages.page(
          ProviderRedirectPage(
            provider: values.provider, link: try PageLink(app: "com.example.notes:/authorize?a=b&c=d")),
          in: context)
      ),
      (
        "confirm",
        pages.page(
          ConfirmPage(
            methods: methods, action: try PageLink(path: "/account/confirm/start"), then: values.session,
            account: account, token: token), in: context)
      ),
      (
        "merge",
        pages.page(
          MergePage(
            provider: values.provider, email: values.email,
            action: try PageLink(path: "/account/merge/confirm"), account: account, token: token), in: context
        )
      ),
      (
        "delete",
        pages.page(
          DeletePage(
            action: try PageLink(path: "/account/delete/confirm"), account: account, token: token),
          in: context
        )
      ),
      ("data-deleted", pages.page(DataDeletionPage(isDone: true), in: context)),
      ("data-deletion-unknown", pages.page(DataDeletionPage(isDone: false), in: context)),
      ("deleted", pages.page(DeletedPage(signUp: try PageLink(path: "/signup")), in: context)),
    ]
  }

  private func parting(_ context: PageContext) throws -> [(String, PageContent)] {
    [
      (
        "signed-out",
        pages.page(
          SignedOutPage(providers: [values.provider], signIn: try PageLink(path: "/login")), in: context)
      ),
      (
        "signed-out-everywhere",
        pages.page(
          SignedOutPage(isEverywhere: true, signIn: try PageLink(path: "/login"), app: try app), in: context)
      ),
      ("continue", pages.page(ContinuePage(try app), in: context)),
    ]
  }
}
