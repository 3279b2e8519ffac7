// Schema 2: for changes of accounts. Sessions and codes have the provider's session id, so that a logout at the
// provider ends them. An identity may have a sealed token of its provider, which is revoked when the account is
// deleted. The table `spent` has the hashes of one-time messages until they expire.

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

  /// The index is partial, because most providers name no session.
  private static let providerSessions = """
    CREATE INDEX sessions_provider_session ON sessions (provider, provider_session)
    WHERE provider_session IS NOT NULL
    """
}
