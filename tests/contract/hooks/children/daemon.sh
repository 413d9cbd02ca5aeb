# A daemon hook that behaves as its first argument says. Its good answer asks for "mine ID".
state=$2
ready() { echo '{"ready":true}'; }
id_of() { id=${1#*\"id\":\"}; id=${id%%\"*}; }
reply() { echo "{\"id\":\"$1\",\"action\":\"modify\",\"delta\":{\"query\":\"mine $1\"}}"; }
serve() { while read -r line; do id_of "$line"; "$@" "$id"; done; }
many() { head -c "$1" /dev/zero | tr '\0' 'x'; }

slow_once() {
    if [ ! -e "$state" ]; then : >"$state"; sleep 0.15; fi
    reply "$1"
}
slow() { sleep 0.3; reply "$1"; }
say_nothing() { :; }
garbage() { echo 'hello <there>'; }
chatty() { echo 'debug: thinking'; reply "$1"; }
half_line() { printf '{"id":"%s","action":"al' "$1"; }
two_lines() { reply "$1"; reply "$1"; }
wrong_id() { reply "nobody"; }
huge_line() { many 2000000; }
full_line() { printf '%-1048576s\n' "$(reply "$1")"; }
overfull_line() { printf '%-1048577s\n' "$(reply "$1")"; }
complain() { many 1000000 >&2; reply "$1"; }
die_mid_line() { half_line "$1"; exit 0; }
die() { echo 'cannot go on' >&2; exit 7; }
new_key() { echo "{\"id\":\"$1\",\"action\":\"modify\",\"delta\":{\"colour\":\"red\"}}"; }
no_action() { echo "{\"id\":\"$1\"}"; }
array() { echo "[1,2]"; }

case $1 in
    good) ready; serve reply ;;
    slow_once) ready; serve slow_once ;;
    slow_always) ready; serve slow ;;
    silent) ready; serve say_nothing ;;
    never_ready) serve say_nothing ;;
    deaf) ready; sleep 1000 ;;
    garbage) ready; serve garbage ;;
    chatty) ready; serve chatty ;;
    half_line) ready; serve half_line ;;
    two_lines) ready; serve two_lines ;;
    wrong_id) ready; serve wrong_id ;;
    huge_line) ready; serve huge_line ;;
    full_line) ready; serve full_line ;;
    overfull_line) ready; serve overfull_line ;;
    stderr_flood) ready; serve complain ;;
    stderr_for_ever) ready; many 10000000000 >&2 ;;
    stdout_flood) ready; yes '{"id":"0"}' ;;
    exits_at_once) exit 0 ;;
    refuses_to_start) echo 'no licence' >&2; exit 3 ;;
    exits_mid_line) ready; serve die_mid_line ;;
    exits_when_asked) ready; serve die ;;
    ignores_sigterm) trap '' TERM; ready; while :; do sleep 1000; done ;;
    forks_a_grandchild) sleep 1000 & ready; serve reply ;;
    orphans_a_grandchild) sleep 1000 & ready; exit 0 ;;
    unknown_delta_key) ready; serve new_key ;;
    no_action) ready; serve no_action ;;
    array) ready; serve array ;;
esac
