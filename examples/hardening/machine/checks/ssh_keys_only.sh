value=$(sh checks/value.sh first etc/ssh/sshd_config PasswordAuthentication)
echo "PasswordAuthentication is '$value', wanted 'no'"
[ "$value" = no ]
