// The script that lets a shell complete this program's words.

import ArgumentParser

struct Completions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a script that lets a shell complete these commands.",
    discussion: """
      bash: source <(enroll completions bash), in ~/.bashrc.
      zsh:  enroll completions zsh >~/.zfunc/_enroll, with ~/.zfunc in fpath.
      fish: enroll completions fish >~/.config/fish/completions/enroll.fish
      """)

  @Argument(help: ArgumentHelp("bash, zsh or fish.", valueName: "shell"))
  var shell: Shell

  enum Shell: String, CaseIterable, ExpressibleByArgument {
    case bash, zsh, fish

    var kind: CompletionShell {
      switch self {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    }
  }

  func run() throws {
    Output.line(Enroll.completionScript(for: shell.kind))
  }
}
