import EnrollRules
import EnrollSteps
import EnrollCrypto
import EnrollJSON
import EnrollTesting
import Expectations
import Testing

@Suite("Providers by name")
struct ProviderPresetTests {
  /// A valid value for each part of a preset.
  static let values = [
    "domain": "id.example.com", "tenant": "72f988bf-86f1-41af-91ab-2d7cd011db47", "policy": "B2C_1_signin",
    "realm": "main", "userPool": "eu-west-1_aBcDeF", "environment": "e1", "application": "app",
    "clientSecret": "s3cret", "issuer": "https://id.example.com/am",
  ]

  private func read(_ text: String) throws -> Configuration {
    try Configuration(json: try JSON.parse(Array(text.utf8)))
  }

  private func refused(_ text: String) -> EnrollError? { refusal { try read(text) } }

  static let serving = ProviderPreset.all.filter { !["apple", "linkedin", "slack"].contains($0.name) }

  @Test("every preset is a good configuration once its parts are there", arguments: serving.map(\.name))
  func whole(name: String) throws {
    let preset = try #require(ProviderPreset.named(name))
    let clientID = name == "google-ios" ? "1-a.apps.googleusercontent.com" : "native"
    var object = JSONObject([("provider", .string(name)), ("clientId", .string(clientID))])
    for key in preset.parts + preset.requires where key != "clientId" {
      object[key] = .string(try #require(Self.values[key]))
    }
    if !preset.text.contains("redirectUri") { object["redirectUri"] = .string("com.example.app:/callback") }
    let configuration = try Configuration(json: .object(object))
    #expect(!configuration.issuer.text.contains("<"))
    #expect(!configuration.hasDefaultScopes)
    // The error names each missing key.
    for key in preset.parts + preset.requires where key != "clientId" {
      var less = object
      less[key] = nil
      let error = refusal { try Configuration(json: .object(less)) }
      #expect(error?.field == key && error?.message.contains("the provider \(name) needs it") == true)
    }
  }

  @Test("parts go to their places")
  func places() throws {
    let cognito = try read(
      #"{"provider":"cognito","userPool":"eu-west-1_aBcDeF","clientId":"c","redirectUri":"com.example.app:/cb"}"#
    )
    expect(cognito.issuer, is: "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_aBcDeF")
    let b2c = try read(
      """
      {"provider":"b2c","domain":"contoso.b2clogin.com","tenant":"\(Self.values["tenant"] ?? "")","policy":"B2C_1_a",
       "clientId":"app-1","redirectUri":"msalapp-1://auth"}
      """)
    expect(b2c.scopes, is: ["openid", "offline_access", "app-1"])
    expect(
      b2c.discoveryURI,
      is: "https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_a/v2.0/.well-known/openid-configuration"
    )
    let ios = try read(#"{"provider":"google-ios","clientId":"12-ab.apps.googleusercontent.com"}"#)
    expect(ios.redirectURI, is: "com.googleusercontent.apps.12-ab:/oauth2redirect")
    let gitlab = try read(#"{"provider":"gitlab","clientId":"c","redirectUri":"com.example.app:/cb"}"#)
    expect(gitlab.issuer, is: "https://gitlab.com")
    let own = try read(
      #"{"provider":"gitlab","domain":"git.example:8443/code","clientId":"c","redirectUri":"com.example.app:/cb"}"#
    )
    expect(own.endpoints?.deviceAuthorization, is: "https://git.example:8443/code/oauth/authorize_device")
  }

  @Test("what the user writes wins, members of objects one by one, in any spelling")
  func own() throws {
    let configuration = try read(
      """
      {"provider":"github","client_id":"c","client_secret":"s","redirect_uri":"com.example.app:/cb","scopes":"repo",
       "without_expiry":3600, "endpoints":{"token_endpoint":"https://github.com/other"}, "profile":{"name":"login"}}
      """)
    #expect(configuration.redirectURI == "com.example.app:/cb" && configuration.scopes == ["repo"])
    expect(configuration.withoutExpirySeconds, is: 3600)
    expect(configuration.endpoints?.token, is: "https://github.com/other")
    expect(configuration.endpoints?.authorization, is: "https://github.com/login/oauth/authorize")
    #expect(configuration.profile?.name == ["login"] && configuration.profile?.subject == ["id"])
    let okta = try read(
      #"{"provider":"okta","issuer":"https://dev.okta.com","clientId":"c","redirectUri":"com.example.app:/cb"}"#
    )
    #expect(okta.issuer == "https://dev.okta.com" && okta.scopes.contains("offline_access"))
  }

  @Test(
    "contradictions and unknown names are refused with what would be right",
    arguments: [
      (#"{"provider":"goggle","clientId":"c"}"#, "provider", "perhaps google was meant"),
      (#"{"provider":"qqqqqqqqq","clientId":"c"}"#, "provider", "expected one of google"),
      (#"{"provider":1,"clientId":"c"}"#, "provider", "expected a string"),
      (#"{"provider":"google","clientId":"c","clientSecret":"s","realm":"r"}"#, "realm", "has no such part"),
      (#"{"issuer":"https://id.example","clientId":"c","domain":"id.example"}"#, "domain", "provider"),
      (
        #"{"provider":"google","clientId":"c","clientSecret":"s","issuer":"https://id.example"}"#, "issuer",
        "the provider google is at https://accounts.google.com"
      ),
      (
        #"{"provider":"okta","clientId":"c","domain":"dev.okta.com","issuer":"https://id.example"}"#,
        "issuer",
        "https://dev.okta.com/oauth2/default"
      ),
      (#"{"provider":"okta","clientId":"c","domain":"https://dev.okta.com"}"#, "domain", "without https://"),
      (#"{"provider":"okta","clientId":"c","domain":"dev.okta.com/"}"#, "domain", "without https://"),
      (#"{"provider":"okta","clientId":"c","domain":"a b"}"#, "domain", "expected a host"),
      (#"{"provider":"okta","clientId":"c","domain":"dev?x"}"#, "domain", "expected a host"),
      (#"{"provider":"entra","clientId":"c","tenant":"contoso.com"}"#, "tenant", "GUID"),
      (#"{"provider":"cognito","clientId":"c","userPool":"abc"}"#, "userPool", "eu-west-1_aBcDeF"),
      (#"{"provider":"google-ios","clientId":"c"}"#, "clientId", "apps.googleusercontent.com"),
      (#"{"provider":"facebook","clientId":"a/b"}"#, "clientId", "addresses contain it"),
      (#"{"provider":"entra-common","clientId":"c","tenants":["contoso"]}"#, "tenants", "GUID"),
      (#"{"provider":"apple","clientId":"c","redirectUri":"com.example.app:/cb"}"#, "issuer", "back end"),
      (#"{"provider":"okta","domain":"dev.okta.com","clientId":"c"}"#, "redirectUri", "missing"),
      (#"{"clientId":"c","redirectUri":"com.example.app:/cb"}"#, "issuer", "provider"),
    ])
  func contradictions(text: String, field: String, words: String) throws {
    let error = try #require(refused(text))
    #expect(error.code == .configuration && error.field == field)
    #expect(error.message.contains(words), "\(error.message)")
  }

  @Test("the same from code")
  func fromCode() throws {
    let configuration = try Configuration(
      provider: "okta", parts: [("domain", "dev.okta.com")], clientID: "c",
      redirectURI: "com.example.app:/callback")
    expect(configuration.issuer, is: "https://dev.okta.com/oauth2/default")
    let google = try Configuration(provider: "google", clientID: "c", clientSecret: Secret("s"))
    #expect(google.clientSecret == Secret("s") && google.redirectURI == "http://127.0.0.1/")
  }

  @Test("the presets are asked for in the table of keys")
  func keys() {
    let names = Configuration.keys.map(\.name)
    for preset in ProviderPreset.all {
      for key in preset.parts + preset.requires { #expect(names.contains(key), "\(key)") }
    }
    expect(Set(ProviderPreset.all.map(\.name)).count, is: ProviderPreset.all.count)
  }
}

@Suite("Advice at a provider that EnrollKit knows")
struct ProviderAdviceTests {
  @Test(
    "the preset of a service is found by its host, and by no other that ends alike",
    arguments: [
      ("https://accounts.google.com", "google"), ("https://dev-1.okta.com/oauth2/default", "okta"),
      ("https://login.microsoftonline.com/{tenantid}/v2.0", "entra-common"),
      ("https://github.com/login/oauth", "github"),
      ("https://notgithub.com", nil), ("https://github.com.evil.example", nil), ("https://id.example", nil),
    ] as [(String, String?)])
  func hosts(issuer: String, preset: String?) {
    expect(ProviderPreset.at(Issuer(issuer))?.name, is: preset)
  }

  @Test("a sign-in with bare defaults that fails names the preset, and one with the preset does not")
  func advice() throws {
    let bare = try Bench([("issuer", .string("https://accounts.google.com"))])
    let preset = try Bench([
      ("issuer", nil), ("provider", .string("google")), ("clientSecret", .string("s")),
    ])
    for (bench, isAdvised) in [(bare, true), (preset, false)] {
      let place = "https://accounts.google.com/.well-known/openid-configuration"
      let lost = TransportAt([place: TransportAt.json("{}", status: 403)], else: bench.provider)
      let noDocument = refusal {
        try bench.engine(transport: lost).signIn.begin(SignInOptions(), cancellation: nil)
      }
      expect(noDocument?.message.contains("configure provider google"), is: isAdvised)

      let document = TransportAt.json(
        #"{"issuer":"https://accounts.google.com","authorization_endpoint":"https://id.example/authorize","token_endpoint":"https://id.example/t","jwks_uri":"https://id.example/keys"}"#
      )
      let refuses = TransportAt.json(
        #"{"error":"invalid_request","error_description":"client_secret is missing."}"#, status: 400)
      let engine = bench.engine(
        transport: TransportAt([place: document, "https://id.example/t": refuses], else: bench.provider))
      let begun = try engine.signIn.begin(SignInOptions(), cancellation: nil)
      let redirect = bench.provider.signIn(at: begun.url)
      let url = String(redirect[..<(try #require(redirect.firstRange(of: "&iss="))).lowerBound])
      guard case .failed(let error) = try engine.signIn.resume(url, cancellation: nil).ending else {
        throw Unexpected(what: "tokens without a secret")
      }
      #expect(error.message.contains("check clientId, and clientSecret"))
      expect(error.message.contains("configure provider google"), is: isAdvised)
    }
  }

  @Test("the documentation lists the presets and what they need")
  func documented() throws {
    var lines = [
      "", "| preset | provider | needs | may have | redirect |", "| --- | --- | --- | --- | --- |",
    ]
    for preset in ProviderPreset.all {
      let isServing = ProviderPresetTests.serving.contains { $0.name == preset.name }
      let needed = (preset.parts + preset.requires).filter { $0 != "clientId" }.map { "`\($0)`" }
      let optional = preset.defaults.map { "`\($0.part)`: \($0.value)" }
      let redirect = (try? JSON.parse(Array(preset.text.utf8)))?.object?["redirectUri"]?.string
      lines.append(
        "| `\(preset.name)` | \(preset.title) | "
          + (isServing ? needed.joined(separator: ", ") : "refused: sign in through a back end, with `bff`")
          + " | \(optional.joined(separator: ", ")) | \(redirect.map { "`\($0)`" } ?? "") |")
    }
    try DrawnPage.checkPart("providers.md", "presets", lines.joined(separator: "\n") + "\n")
  }
}
