internal import CCairo

/// cairo's functions, once `needCairo` has returned: before that it is a mistake of ours to look at them, and traps.
let cairo = try! opened.get()

/// Opens cairo, the first time. Throws where it is not on this machine.
func needCairo() throws(PictureError) { _ = try opened.get() }

private let opened = Result { () throws(PictureError) in try openCairo("libcairo.so.2") }

/// The C function is `dlopen`.
func openCairo(_ file: String) throws(PictureError) -> tenfour_cairo {
    var failure: UnsafePointer<CChar>?
    let cairo = unsafe tenfour_cairo_open(file, &failure)
    if let failure = unsafe failure { throw .noCairo(unsafe String(cString: failure)) }
    return cairo
}
