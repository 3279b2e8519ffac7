import EnrollRules
import Expectations
import Testing

@Suite("Templates of activation links (R11)")
struct LinkTemplateTests {
  @Test(
    "a token is a whole path segment or a whole query value",
    arguments: [
      "https://app.example/welcome/{activationToken}", "https://app.example/{activationToken}/welcome",
      "https://app.example/?t={activationToken}", "https://app.example/w?t={activationToken}&x=1",
      "app.scheme://welcome/{activationToken}", "com.example.app:/w/{activationToken}",
    ])
  func accepted(text: String) throws {
    let template = try LinkTemplate(text)
    let link = String(decoding: template.prefix + Array("TOKEN".utf8) + template.suffix, as: UTF8.self)
    expect(link, is: text.replacing("{activationToken}", with: "TOKEN"))
  }

  @Test(
    "any other place is refused",
    arguments: [
      "https://app.example/welcome", "https://app.example/{activationToken}/{activationToken}",
      "https://app.example/a{activationToken}", "https://app.example/{activationToken}b",
      "https://{activationToken}.example/", "https://app.example/#{activationToken}",
      "https://app.example/{activationToken}#", "{activationToken}://app/", "https://{activationToken}/x",
      "http://127.0.0.1/{activationToken}", "http://app.example/{activationToken}",
      "https://u@a.b/{activationToken}",
      "myapp:/{activationToken}", "https://app.example/{activation_token}",
    ])
  func refused(text: String) {
    #expect(throws: LinkTemplate.Problem.self) { try LinkTemplate(text) }
  }
}
