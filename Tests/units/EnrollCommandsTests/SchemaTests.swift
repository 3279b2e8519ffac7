import EnrollRules
import EnrollJSON
import Expectations
import Testing

@testable import EnrollCommands

@Suite("Schemas")
struct SchemaTests {
  private static let schema = Schema.object([
    .required("name", .text("A name.", maximumBytes: 4)),
    .optional("age", Schema(.integer(0...120), "In years."), default: .integer(18)),
    .optional("kind", Schema(.oneOf(["cat", "dog"]))),
    .optional("tags", Schema(.list(.text("A tag."), maximumCount: 2))),
    .optional("extra", Schema(.texts(maximumCount: 1))),
    .optional("isOld", Schema(.boolean)),
    .optional("either", Schema(.anyOf([.text("A text."), Schema(.list(.text("One."), maximumCount: 2))]))),
  ])

  @Test(
    "a value that fits is accepted",
    arguments: [
      #"{"name":"abcd"}"#,
      #"{"name":"","age":0,"kind":"cat","tags":["a","b"],"extra":{"x":"y"},"isOld":false}"#,
      #"{"name":"ab","either":"text"}"#, #"{"name":"ab","either":["a","b"]}"#,
    ])
  func accepts(text: String) throws {
    try Self.schema.check(try JSON.parse(Array(text.utf8)))
  }

  @Test(
    "a value that does not fit is refused by the name of the member at fault",
    arguments: [
      (#"[]"#, "params"), (#"null"#, "params"), (#"{}"#, "name"), (#"{"name":null}"#, "name"),
      (#"{"name":1}"#, "name"), (#"{"name":"abcde"}"#, "name"), (#"{"name":"ééé"}"#, "name"),
      (#"{"name":"a","age":"1"}"#, "age"), (#"{"name":"a","age":-1}"#, "age"),
      (#"{"name":"a","age":121}"#, "age"), (#"{"name":"a","age":1.5}"#, "age"),
      (#"{"name":"a","age":1e2}"#, "age"), (#"{"name":"a","age":99999999999999999999}"#, "age"),
      (#"{"name":"a","kind":"cow"}"#, "kind"), (#"{"name":"a","kind":1}"#, "kind"),
      (#"{"name":"a","tags":"a"}"#, "tags"), (#"{"name":"a","tags":["a",1]}"#, "tags[1]"),
      (#"{"name":"a","tags":["a","b","c"]}"#, "tags"), (#"{"name":"a","extra":{"x":1}}"#, "extra.x"),
      (#"{"name":"a","extra":{"x":"1","y":"2"}}"#, "extra"), (#"{"name":"a","isOld":0}"#, "isOld"),
      (#"{"name":"a","other":1}"#, "other"), (#"{"name":"a","Name":"b"}"#, "Name"),
      (#"{"name":"a","either":1}"#, "either"), (#"{"name":"a","either":["a",2]}"#, "either[1]"),
    ])
  func refuses(text: String, field: String) throws {
    let json = try JSON.parse(Array(text.utf8))
    let error = #expect(throws: EnrollError.self) { try Self.schema.check(json) }
    expect(error?.code, is: .invalidArgument)
    expect(error?.field, is: field)
  }

  @Test("a refusal says what was expected and not what came (R40)")
  func secrecy() {
    let error = #expect(throws: EnrollError.self) {
      try Self.schema.check(.object([("name", .string("a")), ("kind", .string("hunter2"))]))
    }
    expect(error?.message, is: "kind: expected one of cat, dog, got another string")
  }

  @Test("a misspelt word is told the one that was probably meant", arguments: ["dok", "DOG", "do"])
  func misspelt(word: String) {
    let error = #expect(throws: EnrollError.self) {
      try Self.schema.check(.object([("name", .string("a")), ("kind", .string(word))]))
    }
    expect(error?.message, is: "kind: expected one of cat, dog, got another string; perhaps dog was meant")
  }

  @Test("a schema prints itself as JSON Schema, closed for input and open for output")
  func document() throws {
    var types = JSONObject()
    let input = Self.schema.document(.input, &types)
    #expect(types.members.isEmpty)
    expect(input["type"], is: .string("object"))
    expect(input["required"], is: .array([.string("name")]))
    expect(input["additionalProperties"], is: .bool(false))
    let age = input["properties"]?["age"]
    expect(
      age,
      is: .object([
        ("type", .string("integer")), ("minimum", .integer(0)), ("maximum", .integer(120)),
        ("description", .string("In years.")), ("default", .integer(18)),
      ]))
    expect(input["properties"]?["kind"]?["enum"], is: .array([.string("cat"), .string("dog")]))
    expect(Self.schema.document(.output, &types)["additionalProperties"], is: nil)
  }

  @Test(
    "a schema with a name prints a reference, and its type once, in front of the types that it is made of")
  func names() throws {
    let pet = Schema.words("Pet", ["cat", "dog"], "A kind of pet.")
    let owner = Schema.object(
      [.required("pet", pet.as("The first one.")), .optional("second", pet)], "An owner."
    )
    .named("Owner")
    var types = JSONObject()
    expect(owner.document(.output, &types), is: .object([("$ref", .string("#/$defs/Owner"))]))
    expect(owner.as("Him.").document(.output, &types)["description"], is: .string("Him."))
    expect(types.members.map(\.key), is: ["Owner", "Pet"])
    expect(
      types["Owner"]?["properties"]?["pet"],
      is: .object([("$ref", .string("#/$defs/Pet")), ("description", .string("The first one."))]))
    expect(types["Owner"]?["properties"]?["second"], is: .object([("$ref", .string("#/$defs/Pet"))]))
    expect(types["Owner"]?["description"], is: .string("An owner."))
    expect(types["Pet"]?["enum"], is: .array([.string("cat"), .string("dog")]))
  }

  @Test("a schema says the unit of a number, and what is never shown")
  func formats() {
    var types = JSONObject()
    expect(Schema.seconds(0...60, "A pause.").document(.input, &types)["format"], is: .string("seconds"))
    expect(Schema.date("The end.").document(.input, &types)["format"], is: .string("unix-time"))
    expect(Schema.text("A code.").sensitive.document(.output, &types)["sensitive"], is: .bool(true))
    expect(Schema.text("A name.").document(.output, &types)["sensitive"], is: nil)
  }
}
