# Sourced by the scripts of the package, after common.sh: what it contains.

# The tools that are installed as tenfour-NAME.
tools=(badlink radiocheck replay)

# The manual pages of what is installed, one a line: all but those of the other tools.
manual_pages() {
    local page name
    for page in "$root"/Tools/man/*.[157]; do
        [[ -e $page ]] || continue
        name=${page##*/}
        name=${name%.*}
        name=${name#tenfour-}
        if [[ " ${tools[*]} " == *" $name "* || ! -e $root/Tools/$name && ! -e $root/Tools/Programs/$name ]]; then echo "$page"; fi
    done
}
