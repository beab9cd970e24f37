value=$(sh checks/value.sh first etc/ssh/sshd_config PermitRootLogin)
echo "PermitRootLogin is '$value', wanted 'no'"
[ "$value" = no ]
