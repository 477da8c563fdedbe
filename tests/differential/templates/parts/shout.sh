tr a-z A-Z < "$1" | cat - "$3" > "$2"
