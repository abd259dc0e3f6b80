internal import CSndFile

/// libsndfile's functions. An access traps before `loadSndFile` has returned. Afterwards the functions never change.
let sndfile = try! opened.get()

/// Loads libsndfile on the first call, from any thread but the audio thread. Throws if it is not installed.
func loadSndFile(for name: String) throws(AudioFileError) {
    do throws(MissingSndFile) { _ = try opened.get() } catch {
        throw AudioFileError(.libraryIsMissing(error.words), name: name)
    }
}

private let opened = Result { () throws(MissingSndFile) in try openSndFile("libsndfile.so.1") }

/// libsndfile cannot be loaded; `words` is the message of `dlopen` or `dlsym`.
struct MissingSndFile: Error { var words: String }

func openSndFile(_ file: String) throws(MissingSndFile) -> tenfour_sndfile {
    var failure: UnsafePointer<CChar>?
    let sndfile = unsafe tenfour_sndfile_open(file, &failure)
    if let failure = unsafe failure { throw MissingSndFile(words: unsafe String(cString: failure)) }
    return sndfile
}
