// `--set KEY=VALUE`.

import EnrollArguments
import EnrollJSON
import Testing

@testable import enroll

@Suite("A key of the configuration on the command line")
struct SettingTests {
  static let good: [(String, String)] = [
    ("dpop=auto", #"{"issuer":"https://id.example","dpop":"auto"}"#),
    (
      "tokenEndpointAuthMethod=client_secret_basic",
      #"{"issuer":"https://id.example","tokenEndpointAuthMethod":"client_secret_basic"}"#
    ),
    (
      "token_endpoint_auth_method=client_secret_post",
      #"{"issuer":"https://id.example","tokenEndpointAuthMethod":"client_secret_post"}"#
    ),
    ("caFile=/a=b.pem", #"{"issuer":"https://id.example","caFile":"/a=b.pem"}"#),
    ("confirmation=false", #"{"issuer":"https://id.example","confirmation":false}"#),
    ("grace=90", #"{"issuer":"https://id.example","grace":90}"#),
    ("scopes=openid email", #"{"issuer":"https://id.example","scopes":"openid email"}"#),
    (
      "idTokenAlgorithms=RS256 ES256",
      #"{"issuer":"https://id.example","idTokenAlgorithms":["RS256","ES256"]}"#
    ),
    (#"idTokenAlgorithms=["RS256"]"#, #"{"issuer":"https://id.example","idTokenAlgorithms":["RS256"]}"#),
    (
      #"authorizeParameters={"audience":"x"}"#,
      #"{"issuer":"https://id.example","authorizeParameters":{"audience":"x"}}"#
    ),
    (
      "endpoints.tokenEndpoint=https://t",
      #"{"issuer":"https://id.example","endpoints":{"tokenEndpoint":"https://t"}}"#
    ),
    (#"scopes=["openid","email"]"#, #"{"issuer":"https://id.example","scopes":["openid","email"]}"#),
    ("scopes=[]", #"{"issuer":"https://id.example","scopes":[]}"#),
    (
      #"profile.subject=["data.id", "sub"]"#,
      #"{"issuer":"https://id.example","profile":{"subject":["data.id","sub"]}}"#
    ),
    ("profile.subject=sub", #"{"issuer":"https://id.example","profile":{"subject":"sub"}}"#),
    (
      "authorizeParameters.audience=[x]",
      #"{"issuer":"https://id.example","authorizeParameters":{"audience":"[x]"}}"#
    ),
    (
      "authorize_parameters.a.b=c=d",
      #"{"issuer":"https://id.example","authorizeParameters":{"a.b":"c=d"}}"#
    ),
  ]

  @Test("each kind of value, in each spelling of the key", arguments: good)
  func value(word: String, expected: String) throws {
    let before = JSON.object([("issuer", .string("https://id.example"))])
    #expect(try ConfigurationSetting(word).applied(to: before) == JSON.parse(Array(expected.utf8)))
  }

  @Test("a key that is there changes, in whatever spelling it was, and the other keys of an object stay")
  func change() throws {
    let before = try JSON.parse(
      Array(#"{"ca_file":"/old","endpoints":{"tokenEndpoint":"https://t","jwksUri":"https://j"}}"#.utf8))
    var after = try ConfigurationSetting("caFile=/new").applied(to: before)
    after = try ConfigurationSetting("endpoints.tokenEndpoint=https://u").applied(to: after)
    #expect(after["ca_file"] == nil && after["caFile"] == .string("/new"))
    #expect(after["endpoints"]?["tokenEndpoint"] == .string("https://u"))
    #expect(after["endpoints"]?["jwksUri"] == .string("https://j"))
  }

  @Test("a file is named by its absolute path, because later processes run in other directories")
  func file() throws {
    for (word, key) in [("caFile=ca.pem", "caFile"), ("client_key_file=ca.pem", "clientKeyFile")] {
      let setting = try ConfigurationSetting(word)
      let path = try Context.absolute("ca.pem")
      #expect(path.hasPrefix("/") && path.hasSuffix("/ca.pem"))
      #expect(setting.applied(to: .object([]))[key] == .string(path))
      #expect(setting.word.hasSuffix("=" + path))
    }
  }

  @Test("an object keeps the members that are there, whichever of its parts is set")
  func member() throws {
    let before = try JSON.parse(Array(#"{"authorize_parameters":{"audience":"x","b":"y"}}"#.utf8))
    let after = try ConfigurationSetting("authorizeParameters.audience=z").applied(to: before)
    #expect(try after == JSON.parse(Array(#"{"authorizeParameters":{"audience":"z","b":"y"}}"#.utf8)))
  }

  static let bad: [(String, String)] = [
    ("dpop", "expected key=value"), ("=auto", "expected key=value"), ("dpopp=auto", "perhaps dpop was meant"),
    ("nothing-like-it=secret", "a configuration has no such key"), ("dpop=secret", "expected one of auto"),
    ("grace=+9", "expected a whole number"), ("confirmation=yes", "expected true or false"),
    ("clientId=secret", "use --client-id"), ("clientSecret=secret", "use --client-secret-file"),
    ("standInToken=secret", "a secret is not given on the command line"),
    ("caFile=", "--set caFile has no value"), ("clientKeyFile=/dev/fd/3", "a later process reads it again"),
    ("client_key_file=/./proc/self/fd/3", "it must be a file that stays there"),
    ("endpoints.tokenEndpont=https://secret", "perhaps endpoints.tokenEndpoint was meant"),
    ("scopes=[1]", "or a JSON array"), ("scopes=[secret", "or a JSON array"),
    ("idTokenAlgorithms=[1]", "or a JSON array"), ("authorizeParameters.=secret", "a name after the dot"),
    ("endpoints.tokenEndpoint.x=secret", "a configuration has no such key"),
  ]

  @Test(
    "a key that is not there, a value of another type, and a secret are refused, and no text repeats the value",
    arguments: bad)
  func refused(word: String, words: String) {
    let error = #expect(throws: UsageError.self) { try ConfigurationSetting(word) }
    let text = error?.message ?? ""
    #expect(text.contains(words) && !text.contains("secret;") && !text.contains("=secret"), "\(text)")
  }

  @Test("the shell is offered each key that may be set, with its values where there are few")
  func candidates() {
    let offered = ConfigurationSetting.candidates
    for word in [
      "dpop=auto", "dpop=never", "caFile=", "confirmation=true", "domain=",
      "tokenEndpointAuthMethod=client_secret_basic",
    ] {
      #expect(offered.contains(word), "\(word)")
    }
    #expect(!offered.contains { $0.hasPrefix("clientSecret") || $0.hasPrefix("issuer=") })
  }
}
