// The scripts with which shells complete a program's command lines. Each script asks the program
// (CompletionRequest.swift), which it finds in PATH.

package enum Shell: String, CaseIterable, Sendable {
  case bash, zsh, fish
}

extension Program {
  package func completionScript(for shell: Shell) -> String {
    let name = root.name
    let function =
      "_"
      + String(
        decoding: name.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
    switch shell {
    case .bash: return CompletionScript.bash(name, function)
    case .zsh: return CompletionScript.zsh(name, function)
    case .fish: return CompletionScript.fish(name, function)
    }
  }
}

private enum CompletionScript {
  /// The script for Bash. Bash also splits words at =, : and @: the script joins the pieces of a word again, but
  /// completes only its last piece, which is the only text that Bash replaces.
  static func bash(_ program: String, _ function: String) -> String {
    #"""
    \#(function)() {
      local line=${COMP_LINE:0:COMP_POINT} blanks i
      local -a words=() answer=()
      for ((i = 0; i < COMP_CWORD; i++)); do
        blanks=${line%%[![:blank:]]*}
        line=${line#"$blanks"}
        if [[ $i -eq 0 || -n $blanks ]]; then words+=("${COMP_WORDS[i]}"); else words[-1]+=${COMP_WORDS[i]}; fi
        line=${line#"${COMP_WORDS[i]}"}
      done
      blanks=${line%%[![:blank:]]*}
      line=${line#"$blanks"}
      if [[ -n $blanks ]]; then words+=("$line"); else words[-1]+=$line; fi
      [[ $line == [=:@] ]] && line=
      mapfile -t answer < <(\#(program) \#(CompletionRequest.word) "${words[@]:1}" 2>/dev/null)
      COMPREPLY=()
      case ${answer[0]-} in
      :files*)
        compopt -o filenames 2>/dev/null
        answer=${answer[0]#:files}
        mapfile -t COMPREPLY < <(compgen -d -- "$line"; compgen -f -X "!*${answer:+.${answer# }}" -- "$line")
        ;;
      :folders)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$line")
        ;;
      :command)
        for ((i = 1; i < COMP_CWORD; i++)); do [[ ${COMP_WORDS[i]} == -- ]] && break; done
        if declare -F _comp_command_offset >/dev/null; then
          _comp_command_offset $((i + 1))
        elif declare -F _command_offset >/dev/null; then
          _command_offset $((i + 1))
        else
          mapfile -t COMPREPLY < <(compgen -c -f -- "$line")
        fi
        ;;
      ?*)
        COMPREPLY=("${answer[@]%%$'\t'*}")
        COMPREPLY=("${COMPREPLY[@]#"${words[-1]%"$line"}"}")
        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
        ;;
      esac
    }
    complete -F \#(function) \#(program)

    """#
  }

  static func zsh(_ program: String, _ function: String) -> String {
    #"""
    #compdef \#(program)
    \#(function)() {
      local -a answer offered open
      local line word i
      answer=("${(@f)$(\#(program) \#(CompletionRequest.word) "${(Q@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
      case $answer[1] in
      :files*)
        compset -P '--*='
        line=${answer[1]#:files}
        _files ${line:+-g} ${line:+"*.${line# }"}
        ;;
      :folders)
        compset -P '--*='
        _files -/
        ;;
      :command)
        i=${words[(i)--]}
        shift $i words
        (( CURRENT -= i ))
        _normal
        ;;
      ?*)
        for line in $answer; do
          word=${line%%$'\t'*}
          if [[ $word == *= ]]; then
            open+=("${word//:/\\:}")
          else
            offered+=("${word//:/\\:}${${line#$word}/$'\t'/:}")
          fi
        done
        local failed=1
        (( $#offered )) && _describe \#(program) offered && failed=0
        (( $#open )) && _describe \#(program) open -S '' && failed=0
        return failed
        ;;
      esac
    }
    if [[ $funcstack[1] == \#(function) ]]; then \#(function) "$@"; else compdef \#(function) \#(program); fi

    """#
  }

  static func fish(_ program: String, _ function: String) -> String {
    #"""
    function \#(function)
      set -l words (commandline -opc)
      set -e words[1]
      set -l current (commandline -ct)
      set -l prefix (string match -r -- '^--[^=]*=' "$current")
      set -l typed (string replace -r -- '^--[^=]*=' '' "$current")
      set -l answer (\#(program) \#(CompletionRequest.word) $words "$current" 2>/dev/null)
      switch "$answer[1]"
        case ':files*'
          set -l ending (string replace -r '^:files ?' '' "$answer[1]")
          for line in (__fish_complete_path "$typed" | string replace -r '\t.*' '')
            if test -z "$ending"; or string match -q -- "*.$ending" "$line"; or string match -q -- '*/' "$line"
              printf '%s%s\n' "$prefix" "$line"
            end
          end
        case ':folders'
          for line in (__fish_complete_directories "$typed")
            printf '%s%s\n' "$prefix" "$line"
          end
        case ':command'
          while test "$words[1]" != --
            set -e words[1]
          end
          set -e words[1]
          complete -C (string join ' ' -- (string escape -- $words) "$current")
        case '*'
          printf '%s\n' $answer
      end
    end
    complete -c \#(program) -f -a '(\#(function))'

    """#
  }
}
