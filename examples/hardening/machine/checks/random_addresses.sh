value=$(sh checks/value.sh last etc/sysctl.conf kernel.randomize_va_space)
echo "kernel.randomize_va_space is '$value', wanted '2'"
[ "$value" = 2 ]
