# Where others may write, the journal that they planted is not obeyed: the file that it names stays.
export XDG_STATE_HOME="$PWD/own"
plant_journal() { # plant_journal DATABASE FILE: a journal with no pages, which names FILE as super-journal
    python3 - "$@" <<'END'
import os, struct, sys
database, name = sys.argv[1], os.fsencode(os.path.abspath(sys.argv[2]))
with open(database, "rb") as file:
    page_bytes = struct.unpack(">16xH", file.read(18))[0]
n_pages = os.path.getsize(database) // page_bytes
magic = bytes.fromhex("d9d505f920a163d7")
with open(database + "-journal", "wb") as file:
    # records, nonce, pages of the database, bytes of a sector and of a page; filled up to a sector
    file.write((magic + struct.pack(">5I", 0, 1, n_pages, 512, page_bytes)).ljust(512, b"\0"))
    lock_page = (1 << 30) // page_bytes + 1
    file.write(struct.pack(">I", lock_page) + name + struct.pack(">2I", len(name), sum(name)) + magic)
END
}
check() { # check FOLDER MODE FILE
    mkdir -m "$2" "$1"
    "$FAILSLOW" detect job --now 1750000100 --output "$1" --quiet 2>&1
    cp own/failslow/*.db "$1/failslow_state.db"
    echo anything > "$3"
    plant_journal "$1/failslow_state.db" "$3"
    "$FAILSLOW" detect job --now 1750000200 --output "$1" --quiet --exit-code 2>&1
    cat "$3"
    ls "$1"
    ls own/failslow | sed 's/^[0-9a-f]*-/HASH-/' | sort
    rm -r own
}
"$FAILSLOW" simulate job tp=2 dp=2 steps=24 fault="compute ranks=1 factor=1.4 onset=10" >/dev/null
check results 0777 victim
check other_results 1777 another_victim
