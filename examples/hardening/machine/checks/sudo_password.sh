if grep -n NOPASSWD etc/sudoers; then echo "this line asks for no password"; exit 1; fi
