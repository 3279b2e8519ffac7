// The presets of common providers, as data: for example, the keys that `"provider": "google"` sets. `<name>` in a value
// is a part of the preset: the host sets the part with the key of that name, or the part is derived from another key
// (`source`). The host's own keys take precedence over the preset.

extension ProviderPreset {
  /// Every preset, by its name.
  public static let all: [ProviderPreset] = [
    ProviderPreset(
      "google", "Google, client type Desktop app or TV", hosts: ["accounts.google.com"],
      requires: ["clientSecret"],
      #"""
      {"issuer": "https://accounts.google.com", "scopes": "openid profile email", "redirectUri": "http://127.0.0.1/",
       "promptAfterLogout": "select_account"}
      """#),
    ProviderPreset(
      "google-ios", "Google, client type iOS, also for macOS and UWP",
      #"""
      {"issuer": "https://accounts.google.com", "scopes": "openid profile email",
       "redirectUri": "com.googleusercontent.apps.<googleClient>:/oauth2redirect",
       "promptAfterLogout": "select_account"}
      """#),
    ProviderPreset(
      "entra", "Microsoft Entra ID, one tenant",
      #"""
      {"issuer": "https://login.microsoftonline.com/<tenant>/v2.0", "scopes": "openid profile email offline_access",
       "redirectUri": "http://localhost/"}
      """#),
    ProviderPreset(
      "entra-common", "Microsoft Entra ID, users of every tenant", hosts: ["login.microsoftonline.com"],
      #"""
      {"issuer": "https://login.microsoftonline.com/{tenantid}/v2.0",
       "discoveryUri": "https://login.microsoftonline.com/common/v2.0/.well-known/openid-configuration",
       "scopes": "openid profile email offline_access", "redirectUri": "http://localhost/"}
      """#),
    ProviderPreset(
      "entra-external", "Microsoft Entra External ID", hosts: ["ciamlogin.com"],
      #"""
      {"issuer": "https://<tenant>.ciamlogin.com/<tenant>/v2.0", "scopes": "openid profile email offline_access",
       "redirectUri": "http://localhost/"}
      """#),
    ProviderPreset(
      "b2c", "Azure AD B2C", hosts: ["b2clogin.com"],
      #"""
      {"issuer": "https://<domain>/<tenant>/v2.0/",
       "discoveryUri": "https://<domain>/<directory>.onmicrosoft.com/<policy>/v2.0/.well-known/openid-configuration",
       "scopes": "openid offline_access <clientId>"}
      """#),
    ProviderPreset(
      "facebook", "Facebook", hosts: ["facebook.com"],
      #"""
      {"issuer": "https://www.facebook.com", "scopes": "openid email public_profile",
       "redirectUri": "fb<clientId>://authorize",
       "endpoints": {
         "authorizationEndpoint": "https://www.facebook.com/v22.0/dialog/oauth",
         "tokenEndpoint": "https://graph.facebook.com/v22.0/oauth/access_token",
         "jwksUri": "https://www.facebook.com/.well-known/oauth/openid/jwks/"},
       "profile": {"endpoint": "https://graph.facebook.com/me?fields=id,name,email,picture", "subject": "id",
         "name": "name", "email": "email", "picture": "picture.data.url"}}
      """#),
    ProviderPreset(
      "github", "GitHub, OAuth app or GitHub App", hosts: ["github.com"], requires: ["clientSecret"], github),
    ProviderPreset("github-device", "GitHub, with the device flow alone, which needs no secret", github),
    ProviderPreset(
      "gitlab", "GitLab", hosts: ["gitlab.com"],
      #"""
      {"issuer": "https://<domain>", "scopes": "openid profile email",
       "endpoints": {"deviceAuthorizationEndpoint": "https://<domain>/oauth/authorize_device"}}
      """#, defaults: [("domain", "gitlab.com")]),
    ProviderPreset(
      "okta", "Okta, its default authorization server", hosts: ["okta.com", "oktapreview.com"],
      #"{"issuer": "https://<domain>/oauth2/default", "scopes": "openid profile email offline_access"}"#),
    ProviderPreset(
      "auth0", "Auth0", hosts: ["auth0.com"],
      #"""
      {"issuer": "https://<domain>/", "scopes": "openid profile email offline_access", "passwordless": "auth0"}
      """#),
    ProviderPreset(
      "keycloak", "Keycloak",
      #"""
      {"issuer": "https://<domain>/realms/<realm>", "scopes": "openid profile email offline_access",
       "redirectUri": "http://127.0.0.1/callback", "connectionParameter": "kc_idp_hint",
       "registration": "promptCreate"}
      """#),
    ProviderPreset(
      "cognito", "Amazon Cognito", hosts: ["amazonaws.com", "amazoncognito.com"],
      #"""
      {"issuer": "https://cognito-idp.<region>.amazonaws.com/<userPool>", "scopes": "openid profile email",
       "logoutDialect": "cognito", "connectionParameter": "identity_provider"}
      """#),
    ProviderPreset(
      "forgerock", "ForgeRock AM", requires: ["issuer"], #"{"scopes": "openid profile email"}"#),
    ProviderPreset(
      "pingone", "PingOne", hosts: ["pingone.com", "pingone.eu"],
      #"""
      {"issuer": "https://<domain>/<environment>/as", "scopes": "openid profile email offline_access"}
      """#, defaults: [("domain", "auth.pingone.com")]),
    ProviderPreset(
      "adfs", "Active Directory Federation Services",
      #"{"issuer": "https://<domain>/adfs", "scopes": "openid profile email"}"#),
    ProviderPreset(
      "onelogin", "OneLogin", hosts: ["onelogin.com"],
      #"{"issuer": "https://<domain>/oidc/2", "scopes": "openid profile email"}"#),
    ProviderPreset(
      "spring", "Spring Authorization Server", #"{"issuer": "https://<domain>", "scopes": "openid profile"}"#),
    ProviderPreset(
      "zitadel", "Zitadel", hosts: ["zitadel.cloud"],
      #"""
      {"issuer": "https://<domain>", "scopes": "openid profile email offline_access",
       "redirectUri": "http://127.0.0.1/callback", "trustedAudiences": ["*"]}
      """#),
    ProviderPreset(
      "authentik", "authentik",
      #"""
      {"issuer": "https://<domain>/application/o/<application>/", "scopes": "openid profile email offline_access"}
      """#),
    ProviderPreset(
      "authelia", "Authelia",
      #"""
      {"issuer": "https://<domain>", "scopes": "openid profile email offline_access", "resourceParameter": "audience"}
      """#),
    ProviderPreset(
      "kanidm", "Kanidm",
      #"{"issuer": "https://<domain>/oauth2/openid/<clientId>", "scopes": "openid profile email"}"#),
    ProviderPreset(
      "dex", "Dex",
      #"""
      {"issuer": "https://<domain>/dex", "scopes": "openid profile email offline_access",
       "redirectUri": "http://127.0.0.1/callback"}
      """#),
    ProviderPreset(
      "hydra", "Ory Hydra and Ory Network", requires: ["issuer"],
      #"""
      {"scopes": "openid profile email offline_access", "resourceParameter": "audience",
       "registration": "promptRegistration", "clientAssertionAudience": "token_endpoint"}
      """#),
    ProviderPreset(
      "salesforce", "Salesforce, a My Domain", hosts: ["salesforce.com"],
      #"""
      {"issuer": "https://<domain>", "scopes": "openid profile email refresh_token", "withoutExpiry": 3600}
      """#),
    ProviderPreset(
      "discord", "Discord", hosts: ["discord.com"],
      #"""
      {"issuer": "https://discord.com", "scopes": "identify email", "promptAfterLogout": "consent",
       "endpoints": {
         "authorizationEndpoint": "https://discord.com/api/oauth2/authorize",
         "tokenEndpoint": "https://discord.com/api/oauth2/token",
         "revocationEndpoint": "https://discord.com/api/oauth2/token/revoke",
         "authorizationResponseIssParameterSupported": true},
       "profile": {"endpoint": "https://discord.com/api/users/@me", "subject": "id",
         "name": ["global_name", "username"], "email": "email", "emailVerified": "verified"}}
      """#),
    ProviderPreset(
      "x", "X", hosts: ["x.com", "twitter.com"],
      #"""
      {"issuer": "https://x.com", "scopes": "users.read tweet.read offline.access",
       "endpoints": {
         "authorizationEndpoint": "https://x.com/i/oauth2/authorize",
         "tokenEndpoint": "https://api.x.com/2/oauth2/token",
         "revocationEndpoint": "https://api.x.com/2/oauth2/revoke"},
       "profile": {"endpoint": "https://api.x.com/2/users/me", "subject": "data.id", "name": "data.name"}}
      """#),
    ProviderPreset(
      "spotify", "Spotify", hosts: ["spotify.com"],
      #"""
      {"issuer": "https://accounts.spotify.com", "scopes": "user-read-email",
       "redirectUri": "http://127.0.0.1/callback",
       "endpoints": {
         "authorizationEndpoint": "https://accounts.spotify.com/authorize",
         "tokenEndpoint": "https://accounts.spotify.com/api/token"},
       "profile": {"endpoint": "https://api.spotify.com/v1/me", "subject": "id", "name": "display_name",
         "email": "email", "picture": "images.0.url"}}
      """#),
    ProviderPreset(
      "apple", "Apple", hosts: ["appleid.apple.com"], #"{"issuer": "https://appleid.apple.com"}"#),
    ProviderPreset(
      "linkedin", "LinkedIn", hosts: ["linkedin.com"], #"{"issuer": "https://www.linkedin.com/oauth"}"#),
    ProviderPreset("slack", "Slack", hosts: ["slack.com"], #"{"issuer": "https://slack.com"}"#),
  ]

  private static let github = #"""
    {"issuer": "https://github.com/login/oauth", "scopes": "read:user user:email",
     "redirectUri": "http://127.0.0.1/", "promptAfterLogout": "select_account", "withoutExpiry": "never",
     "endpoints": {
       "authorizationEndpoint": "https://github.com/login/oauth/authorize",
       "tokenEndpoint": "https://github.com/login/oauth/access_token",
       "deviceAuthorizationEndpoint": "https://github.com/login/device/code"},
     "profile": {"endpoint": "https://api.github.com/user", "subject": "id", "name": ["name", "login"],
       "email": "email", "picture": "avatar_url", "emailsEndpoint": "https://api.github.com/user/emails"}}
    """#

  /// The keys with which a host sets the parts of a preset, with their documentation.
  static let partKeys: [ConfigurationKey] = [
    ConfigurationKey(
      "domain", .text,
      "With provider: the provider's host, such as dev-1.okta.com, with a port or path if it has one."),
    ConfigurationKey("tenant", .text, "With provider entra, entra-external or b2c: the GUID of the tenant."),
    ConfigurationKey("policy", .text, "With provider b2c: the user flow or policy, such as B2C_1_signin."),
    ConfigurationKey("realm", .text, "With provider keycloak: the realm."),
    ConfigurationKey(
      "userPool", or: ["user_pool"], .text,
      "With provider cognito: the id of the user pool, such as eu-west-1_aBcDeF."),
    ConfigurationKey("environment", .text, "With provider pingone: the id of the environment."),
    ConfigurationKey("application", .text, "With provider authentik: the slug of the application."),
  ]
}
