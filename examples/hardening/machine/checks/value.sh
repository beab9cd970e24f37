# Prints the value that counts: sh checks/value.sh first|last FILE KEY
awk -v which="$1" -v key="$3" '
    { sub(/[ \t]*#.*/, "") }
    $1 == "Match" { exit }
    tolower($1) == tolower(key) { sub(/^[ \t]*[^ \t=]+[ \t]*=?[ \t]*/, ""); if (which == "last" || !seen++) value = $0 }
    END { print value }
' "$2"
