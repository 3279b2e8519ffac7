// An argument with the type of its value. A command uses the parameter to read that value, as in `values[port]`.

/// An argument, and a function that converts its texts to a value. Every text that ``Argument/expectation`` accepts can
/// be converted.
package struct Parameter<Value>: Sendable {
  package let argument: Argument
  /// Converts the given texts, in their order.
  let value: @Sendable ([String]) -> Value
}

extension Parameter where Value == Bool {
  package static func flag(
    _ name: String, letter: String? = nil, help: String, isHidden: Bool = false
  ) -> Self {
    Self(argument: Argument(.flag, name, letter: letter, help: help, isHidden: isHidden)) { !$0.isEmpty }
  }
}

extension Parameter where Value == String? {
  package static func option(
    _ name: String, letter: String? = nil, value: String, help: String, isHidden: Bool = false,
    completion: Completion = .none
  ) -> Self {
    Self(
      argument: Argument(
        .option, name, letter: letter, valueName: value, help: help, isHidden: isHidden,
        completion: completion)
    ) { $0.last }
  }

  package static func optionalOperand(_ name: String, help: String, completion: Completion = .none) -> Self {
    Self(argument: Argument(.operand, name, help: help, completion: completion)) { $0.last }
  }
}

extension Parameter where Value == String {
  package static func option(
    _ name: String, letter: String? = nil, value: String, help: String, default text: String,
    completion: Completion = .none
  ) -> Self {
    Self(
      argument: Argument(
        .option, name, letter: letter, valueName: value, help: help, defaultText: text,
        completion: completion)
    ) { $0.last ?? text }
  }

  package static func operand(_ name: String, help: String, completion: Completion = .none) -> Self {
    Self(argument: Argument(.operand, name, help: help, isRequired: true, completion: completion)) {
      $0.last ?? ""
    }
  }
}

extension Parameter where Value == [String] {
  /// An option that can be given several times.
  package static func repeated(
    _ name: String, letter: String? = nil, value: String, help: String, completion: Completion = .none
  ) -> Self {
    Self(
      argument: Argument(
        .option, name, letter: letter, valueName: value, help: help, isRepeatable: true,
        completion: completion)
    ) { $0 }
  }

  /// Every word after `--`, at least one.
  /// - Parameter whenMissing: the error message if there is no such word.
  package static func rest(
    _ name: String, help: String, whenMissing: String, completion: Completion = .files(extension: nil)
  ) -> Self {
    Self(
      argument: Argument(
        .rest, name, help: help, isRepeatable: true, isRequired: true, completion: completion,
        whenMissing: whenMissing)
    ) { $0 }
  }
}

extension Parameter where Value == Int64 {
  package static func option(
    _ name: String, letter: String? = nil, value: String, help: String, in range: ClosedRange<Int64>,
    default number: Int64, isHidden: Bool = false
  ) -> Self {
    Self(
      argument: .number(
        name, letter, value, help, range, defaultText: number.description, isHidden: isHidden)
    ) { $0.last.flatMap { Int64($0) } ?? number }
  }
}

extension Parameter where Value == Int64? {
  package static func option(
    _ name: String, letter: String? = nil, value: String, help: String, in range: ClosedRange<Int64>
  ) -> Self {
    Self(argument: .number(name, letter, value, help, range)) { $0.last.flatMap { Int64($0) } }
  }
}

extension Parameter {
  /// An option whose value is one of the words of an enumeration.
  package static func choice<Choice>(
    _ name: String, letter: String? = nil, value: String, help: String, of choices: Choice.Type
  ) -> Self
  where Value == Choice?, Choice: CaseIterable & RawRepresentable & Sendable, Choice.RawValue == String {
    Self(argument: .choice(.option, name, letter, value, help, Choice.allCases.map { $0.rawValue })) {
      $0.last.flatMap { Choice(rawValue: $0) }
    }
  }

  package static func choice(
    _ name: String, letter: String? = nil, value: String, help: String, default choice: Value
  ) -> Self where Value: CaseIterable & RawRepresentable & Sendable, Value.RawValue == String {
    Self(
      argument: .choice(
        .option, name, letter, value, help, Value.allCases.map { $0.rawValue },
        defaultText: choice.rawValue)
    ) { $0.last.flatMap { Value(rawValue: $0) } ?? choice }
  }

  /// A required operand whose value is one of the words of an enumeration. Its value is never nil after a command line
  /// was read.
  package static func operand<Choice>(_ name: String, help: String, of choices: Choice.Type) -> Self
  where Value == Choice?, Choice: CaseIterable & RawRepresentable & Sendable, Choice.RawValue == String {
    Self(
      argument: .choice(
        .operand, name, nil, "", help, Choice.allCases.map { $0.rawValue }, isRequired: true)
    ) { $0.last.flatMap { Choice(rawValue: $0) } }
  }
}

extension Argument {
  fileprivate static func number(
    _ name: String, _ letter: String?, _ value: String, _ help: String, _ range: ClosedRange<Int64>,
    defaultText: String? = nil, isHidden: Bool = false
  ) -> Argument {
    Argument(
      .option, name, letter: letter, valueName: value, help: help, defaultText: defaultText,
      isHidden: isHidden
    ) { text in
      // Int64 also accepts a plus sign, which is refused here.
      guard text.utf8.first != UInt8(ascii: "+"), let number = Int64(text), range.contains(number) else {
        return "a number from \(range.lowerBound) to \(range.upperBound)"
      }
      return nil
    }
  }

  fileprivate static func choice(
    _ kind: Kind, _ name: String, _ letter: String?, _ value: String, _ help: String, _ allowed: [String],
    defaultText: String? = nil, isRequired: Bool = false
  ) -> Argument {
    Argument(
      kind, name, letter: letter, valueName: value, help: help, defaultText: defaultText, allowed: allowed,
      isRequired: isRequired, completion: .words(allowed)
    ) { allowed.contains($0) ? nil : ASCIIText.alternatives(allowed) }
  }
}
