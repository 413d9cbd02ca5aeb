# An exec hook that behaves as its first argument says. Its good answer asks for "mine".
good='{"id":"1","action":"modify","delta":{"query":"mine"}}'
many() { head -c "$1" /dev/zero | tr '\0' 'x'; }

case $1 in
    good) read -r line; echo "$good" ;;
    never_reads) echo "$good" ;;
    says_nothing) exit 0 ;;
    empty_object) echo '{}' ;;
    empty_lines) echo; echo; ;;
    chatty) echo 'debug: thinking'; echo "$good"; echo; ;;
    without_id) echo '{"action":"deny","reason":"no","code":451}' ;;
    slow_always | silent) sleep 1000 ;;
    garbage) echo 'hello <there>' ;;
    half_line) printf '{"id":"1","action":"al' ;;
    wrong_id) echo '{"id":"77","action":"allow"}' ;;
    huge_line) many 2000000 ;;
    stderr_flood) many 1000000 >&2; echo "$good" ;;
    stdout_flood) yes ;;
    exits_with_a_code) echo "$good"; echo 'cannot go on' >&2; exit 3 ;;
    ignores_sigterm) trap '' TERM; while :; do sleep 1000; done ;;
    forks_a_grandchild) sleep 1000 & echo "$good" ;;
    closes_its_output) exec >&- 2>&-; sleep 1000 ;;
    unknown_delta_key) echo '{"action":"modify","delta":{"colour":"red"}}' ;;
esac
