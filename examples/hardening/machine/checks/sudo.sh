# Probe: each line of sudoers is one that sudo reads, and the administrators may become root.
if grep -nvE '^(#.*|[ \t]*|Defaults[ \t].+|%?[a-z_]+[ \t]+[A-Z]+=\([A-Z:]+\)[ \t]*(NOPASSWD:)?[ \t]*ALL)$' etc/sudoers; then
    echo "sudo cannot read this line"; exit 1
fi
grep -qE '^%admins[ \t].*ALL$' etc/sudoers || { echo "the group admins may not become root any more"; exit 1; }
