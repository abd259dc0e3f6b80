import ArgumentParser

/// The scripts that `tenfour --generate-completion-script` prints, made of the parser's scripts.
enum CompletionScript {
    private static let option = "--generate-completion-script"

    /// Whether the first word of `typed` asks for a script.
    static func isRequested(by typed: [String]) -> Bool {
        typed.first == option || typed.first?.hasPrefix(option + "=") == true
    }

    /// Returns the script for the shell that `typed` names; if it names none, for the shell in `$SHELL`. Returns nil if
    /// `typed` does not ask for a script, or if the shell is unknown.
    static func requested(by typed: [String]) -> String? {
        guard isRequested(by: typed) else { return nil }
        let shell = typed.joined(separator: "=").split(separator: "=").dropFirst().first.map(String.init)
        return switch shell.map(CompletionShell.init(rawValue:)) ?? .autodetected() {
        case .bash?: bash
        case .zsh?: zsh
        case let shell?: Tenfour.completionScript(for: shell)
        case nil: nil
        }
    }

    /// The parser's script for zsh. It is changed so that zsh itself completes the names of files, also where a channel
    /// may be typed.
    private static var zsh: String {
        Tenfour.completionScript(for: .zsh)
            .replacing(/\{(__tenfour_custom_complete ---completion [a-z ]+ -- --link-file )/) {
                "{\(files(Completions.links)); \($0.output.1)"
            }
            .replacing(/\{(__tenfour_custom_complete ---completion send -- positional@)/) {
                "{\(files(Completions.sendable)); \($0.output.1)"
            }
    }

    private static func files(_ endings: [String]) -> String {
        "_files -g \"\(endings.map { "*." + $0 }.joined(separator: " "))\""
    }

    /// The parser's script for bash, and a function that bash calls instead of the parser's. For bash, the colons and
    /// equals signs of `hw:CARD=USB` and `--device=default` are words of their own. The function puts the words together
    /// again, calls the parser's function, and removes from the answers the part of the word that bash does not replace.
    private static var bash: String {
        Tenfour.completionScript(for: .bash) + #"""


            _tenfour_with_whole_words() {
                local rest="${COMP_LINE}" word cur not_replaced
                local -a whole=() answers=()
                local -i index last=0
                for index in "${!COMP_WORDS[@]}"; do
                    word="${COMP_WORDS[index]}"
                    if [[ "${index}" -gt 0 && "${rest}" != [[:space:]]* ]]; then
                        whole[-1]+="${word}"
                    else
                        whole+=("${word}")
                    fi
                    rest="${rest#*"${word}"}"
                    [[ "${index}" -ne "${COMP_CWORD}" ]] || last="${#whole[@]}-1"
                done
                cur="${whole[last]}"
                whole=("${whole[@]::last}")
                if [[ "${cur}" = --*=* ]]; then
                    whole+=("${cur%%=*}")
                    cur="${cur#*=}"
                fi
                [[ "${2}" != [:=] ]] || set -- "${1}" '' "${3}"
                not_replaced="${cur%"${2}"}"

                local -a COMP_WORDS=("${whole[@]}" "${cur}")
                local -i COMP_CWORD="${#whole[@]}"
                local COMP_LINE="${COMP_WORDS[*]}"
                local -i COMP_POINT="${#COMP_LINE}"
                _tenfour "${1}" "${cur}" "${whole[-1]}"
                # Bash quotes `$(…)` in a file's whole name that does not begin with a tilde. In the common beginning
                # of more names, it would run the command.
                for word in "${COMPREPLY[@]}"; do
                    if [[ "${word#"${cur}"}" = *[\$\`]* ]]; then
                        word="${word/#\~\//${HOME}/}"
                        [[ -e "${word}" && "${#COMPREPLY[@]}" -eq 1 ]] || continue
                    fi
                    answers+=("${word}")
                done
                # As names of files, the answers are quoted, and folders get a slash. Cards need neither.
                for word in "${answers[@]}"; do
                    [[ "${word}" != *[^-A-Za-z0-9_.,:=]* && ! -e "${word}" ]] || break
                    word=
                done
                [[ -n "${word}" ]] || compopt +o filenames
                COMPREPLY=("${answers[@]#"${not_replaced}"}")
            }

            complete -o filenames -F _tenfour_with_whole_words tenfour
            """#
    }
}
