value=$(sh checks/value.sh first etc/ssh/sshd_config ClientAliveInterval)
echo "ClientAliveInterval is '$value', wanted 1 to 300"
[ "${value:-0}" -ge 1 ] && [ "$value" -le 300 ]
