grep -qxF -f etc/ssh/admin.pub etc/ssh/authorized_keys || { echo "the key of etc/ssh/admin.pub is not in etc/ssh/authorized_keys"; exit 1; }
