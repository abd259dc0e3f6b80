/// Queries of Debian's package database on this machine with `dpkg-query`.
public enum DebianPackage {
    public static let isKnown = (try? Program.path(of: "dpkg-query")) != nil

    /// Returns the installed package that contains a library, without its architecture: libcurl4 for "libcurl.so.4".
    public static func owner(of library: String) throws -> String? {
        let owners = try Program.run("dpkg-query", ["-S", "*/\(library)"]).output
        return owners.split(separator: "\n").first?.split(separator: ":").first.map(String.init)
    }

    /// Returns the packages that an installed package depends on, with their versions.
    public static func dependencies(of package: String) throws -> String {
        try Program.run("dpkg-query", ["-W", "-f", "${Depends}", package]).output
    }

    public static func isInstalled(_ package: String) throws -> Bool {
        try Program.run("dpkg-query", ["-W", "-f", "${db:Status-Status}", package]).output == "installed"
    }
}
