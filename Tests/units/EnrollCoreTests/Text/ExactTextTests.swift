import EnrollRules
import Expectations
import Testing

@Suite("Names that are compared byte for byte")
struct ExactTextTests {
  /// Two spellings that are equal as Swift strings.
  private static let spellings = ("caf\u{E9}", "cafe\u{301}")

  private func tells<Name: ExactText>(_: Name.Type) -> Bool {
    let (one, other) = (Name(Self.spellings.0), Name(Self.spellings.1))
    return one != other && Set([one, other, one]).count == 2 && one == Name(Self.spellings.0)
      && one.description == Self.spellings.0 && Name("a") == "a"
  }

  @Test("two spellings of one text are two names")
  func spellings() {
    expect(Self.spellings.0, is: Self.spellings.1)
    #expect(tells(TransactionID.self) && tells(Issuer.self) && tells(ClientID.self))
  }
}
