// Schema 2: what changes of accounts need. Sessions and codes know the provider's session that they belong to, so that a logout
// there ends them here; an identity may have a token of its provider, sealed, which is revoked when the account is deleted; what
// works once is remembered until it would work no longer.

extension Migration {
  static let version2 = Migration(
    version: 2,
    sqlite: [
      "ALTER TABLE identities ADD COLUMN token text",
      "ALTER TABLE sessions ADD COLUMN provider_session text",
      "ALTER TABLE app_codes ADD COLUMN provider_session text",
      providerSessions,
      "CREATE TABLE spent (hash blob PRIMARY KEY, expires integer NOT NULL) STRICT, WITHOUT ROWID",
      "CREATE INDEX spent_expires ON spent (expires)",
    ],
    postgresql: [
      "ALTER TABLE identities ADD COLUMN token text",
      "ALTER TABLE sessions ADD COLUMN provider_session text COLLATE \"C\"",
      "ALTER TABLE app_codes ADD COLUMN provider_session text COLLATE \"C\"",
      providerSessions,
      "CREATE TABLE spent (hash bytea PRIMARY KEY, expires bigint NOT NULL)",
      "CREATE INDEX spent_expires ON spent (expires)",
    ])

  /// Most providers name no session: those rows are not in it.
  private static let providerSessions = """
    CREATE INDEX sessions_provider_session ON sessions (provider, provider_session)
    WHERE provider_session IS NOT NULL
    """
}
