import ArgumentParser
import Glibc
import TenfourSoundCard
import TenfourUV

/// The values that the shells offer after an option or as an argument, for the scripts that
/// `tenfour --generate-completion-script` prints.
enum Completions {
    static let soundFile = CompletionKind.file(extensions: sounds)
    static let playable = CompletionKind.file(extensions: sounds + ["m3u", "m3u8", "pls"])
    static let card = names { _ in Device.names() }
    static let channel = names { _ in SavedLink.names }
    static let linkFile = names { SavedLink.paths + paths($0, endings: ["link"]) }
    /// The address of `send`, before which the file to send may be typed.
    static let destination = names { SavedLink.names + paths($0, endings: sounds + ["sdp"]) }
    static let networkInterface = names { _ in PortHolder.names(in: "/sys/class/net").sorted() }

    private static let sounds = [
        "wav", "flac", "mp3", "opus", "ogg", "oga", "aac", "m4a", "mka", "webm", "aiff", "aif",
    ]

    /// `values` gets the beginning of the typed word. The shell drops the values that begin differently.
    private static func names(_ values: @escaping @Sendable (String) -> [String]) -> CompletionKind {
        .custom { _, _, typed in
            let values = values(typed).filter { !$0.contains(where: \.isNewline) }
            return switch CompletionShell.requesting {
            // The script lets bash expand each value: without backslashes, `$(…)` in a file's name would be run.
            case .bash: values.map { $0.replacing(/[^-A-Za-z0-9_.,:=\/]/) { "\\" + $0.output } }
            // In zsh, a description follows a colon.
            case .zsh: values.map { $0.replacing(":", with: "\\:") }
            default: values
            }
        }
    }

    /// Returns the folders, with a slash at the end, and the files with one of the `endings` in the folder of `typed`.
    private static func paths(_ typed: String, endings: [String]) -> [String] {
        let folder = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
        let home = unsafe getenv("HOME").map { unsafe String(cString: $0) } ?? ""
        let place = folder.hasPrefix("~/") ? home + folder.dropFirst() : folder
        return PortHolder.names(in: place.isEmpty ? "." : place).sorted().compactMap { name in
            guard !name.hasPrefix(".") else { return nil }
            var status = stat()
            guard unsafe stat(place + name, &status) == 0 else { return nil }
            if status.st_mode & S_IFMT == S_IFDIR { return folder + name + "/" }
            return endings.contains { name.hasSuffix("." + $0) } ? folder + name : nil
        }
    }
}

extension CardName {
    static var defaultCompletionKind: CompletionKind { Completions.card }
}

extension Tenfour {
    /// The parser's script for bash, and a function before the parser's. For bash, the colons and equals signs of
    /// `hw:CARD=USB` and `--device=default` are words of their own. The function puts the words together again, and
    /// removes from the answers the part of the word that bash does not replace.
    static var bashCompletionScript: String {
        completionScript(for: .bash) + #"""


            _tenfour_with_whole_words() {
                local rest="${COMP_LINE}" word cur not_replaced
                local -a whole=()
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
                for word in "${COMPREPLY[@]}"; do
                    [[ ! -e "${word}" ]] || break
                done
                # Only the names of files need quotes.
                [[ -e "${word}" ]] || compopt +o filenames
                COMPREPLY=("${COMPREPLY[@]#"${not_replaced}"}")
            }

            complete -o filenames -F _tenfour_with_whole_words tenfour
            """#
    }
}
