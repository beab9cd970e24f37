value=$(sh checks/value.sh first etc/ssh/sshd_config Banner)
echo "Banner is '$value', wanted '/etc/issue.net'"
[ "$value" = /etc/issue.net ]
