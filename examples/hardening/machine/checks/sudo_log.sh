grep -qE '^Defaults[ \t].*logfile=' etc/sudoers || { echo "etc/sudoers has no line 'Defaults logfile=…'"; exit 1; }
