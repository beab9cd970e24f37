# Probe: sshd reads its file, and the administrator can log in by a key or by a password.
keywords='Port PermitRootLogin PasswordAuthentication PubkeyAuthentication AllowUsers X11Forwarding ClientAliveInterval Banner Match'
for keyword in $(sed 's/#.*//' etc/ssh/sshd_config | awk 'NF { print $1 }'); do
    case " $keywords " in *" $keyword "*) ;; *) echo "sshd does not know the keyword $keyword"; exit 1 ;; esac
done
value() { sh checks/value.sh first etc/ssh/sshd_config "$1"; }
case " $(value AllowUsers) " in *" admin "*) ;; *) echo "admin is not among AllowUsers"; exit 1 ;; esac
[ "$(value PasswordAuthentication)" = yes ] && exit 0
[ "$(value PubkeyAuthentication)" = yes ] && sh checks/ssh_admin_key.sh && exit 0
echo "admin can log in neither by a key nor by a password"
exit 1
