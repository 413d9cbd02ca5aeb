#!/bin/sh
# The same protocol without any library: one line of JSON in, one line of JSON out.
# "login" also asks for "signin".
echo '{"ready":true}'
while IFS= read -r line; do
    id=${line#*\"id\":\"}
    id=${id%%\"*}
    query=${line#*\"query\":\"}
    query=${query%%\",\"namespace\":*}
    case $query in
        *login*) echo "{\"id\":\"$id\",\"action\":\"modify\",\"delta\":{\"query\":\"$query signin\"}}" ;;
        *) echo "{\"id\":\"$id\",\"action\":\"allow\"}" ;;
    esac
done
