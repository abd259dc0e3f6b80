internal import CSndFile

/// libsndfile's functions, once `needSndFile` has returned: before that it is a mistake of ours to look at them, and traps.
/// Nothing changes them.
nonisolated(unsafe) let sndfile = unsafe try! opened.get()

/// Opens libsndfile, the first time, whichever thread that is on; never the audio thread. Throws where it is not on this machine.
func needSndFile(for name: String) throws(AudioFileError) {
    do throws(MissingSndFile) { _ = unsafe try opened.get() } catch {
        throw AudioFileError(.libraryIsMissing(error.words), name: name)
    }
}

private nonisolated(unsafe) let opened = Result { () throws(MissingSndFile) in try openSndFile("libsndfile.so.1") }

/// In the words of `dlopen` or `dlsym`.
struct MissingSndFile: Error { var words: String }

func openSndFile(_ file: String) throws(MissingSndFile) -> tenfour_sndfile {
    var failure: UnsafePointer<CChar>?
    let sndfile = unsafe tenfour_sndfile_open(file, &failure)
    if let failure = unsafe failure { throw MissingSndFile(words: unsafe String(cString: failure)) }
    return unsafe sndfile
}
