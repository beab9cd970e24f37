value=$(sh checks/value.sh last etc/login.defs PASS_MAX_DAYS)
echo "PASS_MAX_DAYS is '$value', wanted 1 to 365"
[ "${value:-0}" -ge 1 ] && [ "$value" -le 365 ]
