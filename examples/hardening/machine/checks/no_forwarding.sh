value=$(sh checks/value.sh last etc/sysctl.conf net.ipv4.ip_forward)
echo "net.ipv4.ip_forward is '$value', wanted '0'"
[ "$value" = 0 ]
