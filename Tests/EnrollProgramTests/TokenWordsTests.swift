// The token's command line, read without the parser: what is taken means what it means to the parser.

import ArgumentParser
import Testing

@testable import enroll

@Suite("The token's command line without the parser")
struct TokenWordsTests {
  /// All that the command is told, as text: the same text is the same command.
  private func parsed(_ words: [String]) throws -> String {
    let token = try #require(try Enroll.parseAsRoot(words) as? Token)
    return String(describing: token.command)
  }

  @Test(
    "what is taken is what the parser reads",
    arguments: [
      "token", "token --json", "token --renew --timeout 0", "token --timeout=86400 --min-lifetime 31536000",
      "token --profile work --store /a=b --account alice", "token --config=/a=b.json",
      "token --keys secret-service --pin-fd 3", "token --keys=auto --passphrase-fd=4 --pin-fd=0",
      "token --resource https://api.example/?a=b --scope=read", "token --timeout 007",
    ])
  func taken(line: String) throws {
    let words = line.split(separator: " ").map { String($0) }
    let command = try #require(TokenCommand(words: words))
    #expect(String(describing: command) == (try parsed(words)))
  }

  @Test("words with blanks and without letters")
  func odd() throws {
    for words in [["token", "--scope", "a b"], ["token", "--profile", "é"]] {
      let command = try #require(TokenCommand(words: words))
      #expect(String(describing: command) == (try parsed(words)))
    }
  }

  @Test(
    "everything else is left to the parser",
    arguments: [
      "", "status", "tokens", "--json token", "help token", "token --help", "token -h", "token --version",
      "token extra", "token --", "token -- --json", "token --jsn", "token --json=true", "token --renew=",
      "token --timeout", "token --timeout --json", "token --timeout -1", "token --timeout=-1",
      "token --timeout +5", "token --timeout 1e3", "token --timeout=", "token --timeout 86401",
      "token --timeout 99999999999999999999", "token --min-lifetime 31536001",
      "token --renew --min-lifetime 5",
      "token --json --json", "token --account a --account b", "token --resource a --resource b",
      "token --config a --profile b", "token --store=", "token --config=", "token --keys gpg",
      "token --keys=",
      "token --pin-fd -1", "token --pin-fd 99999999999", "token --keys file --passphrase-fd 3",
      "token --pin-fd 3 --passphrase-fd 3", "token --=x", "token --account -x", "token --profil work",
      "token --account=", "token --profile=",
    ])
  func left(line: String) {
    #expect(TokenCommand(words: line.split(separator: " ").map { String($0) }) == nil)
  }

  @Test("every option that the parser offers is known here, but for what other programs than scripts ask for")
  func options() throws {
    let help = Enroll.helpMessage(for: Token.self)
    let names = Set(help.matches(of: /--[a-z-]+/).map { String($0.output) })
      .subtracting(["--help", "--version", "--resource-login", "--format", "--id-token"])
    let flags: Set = ["--json", "--renew"]
    let values = [
      "--keys": "auto", "--timeout": "1", "--min-lifetime": "1", "--pin-fd": "3", "--passphrase-fd": "3",
    ]
    #expect(names.count >= 13)
    for name in names {
      let words = ["token", name] + (flags.contains(name) ? [] : [values[name] ?? "word"])
      #expect(TokenCommand(words: words) != nil, "\(name)")
    }
  }
}
