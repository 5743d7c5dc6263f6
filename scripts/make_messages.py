#!/usr/bin/env python3
"""Collects the sentences of the program for its translations.

    scripts/make_messages.py            # brings src/base/po/failslow.pot up to date, and the .po files beside it
    scripts/make_messages.py --check    # fails if failslow.pot is not what the sources say, or a .po lacks anything

Every string literal that holds two words beside each other is a sentence for people, unless FOREIGN or ELSEWHERE below
says otherwise. Single words (labels, titles) are marked with N_("rank"), or stand at a place of LABELS. Facts behind a
sentence (": name=value") are left out, as they stay the same in every language.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "base" / "po"
FORMS = FOLDER / "forms.txt"
TEMPLATE = FOLDER / "failslow.pot"
SOURCES = ["src", "detectors", "include"]
# Sizes as on every 64-bit Linux: the program looks messages up with what the compiler made of them.
MACROS = {"PRId64": "ld", "PRIu64": "lu", "PRIi64": "li", "PRIx64": "lx", "PRId32": "d", "PRIu32": "u", "PRIu8": "u"}
TOKEN = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|[^\s]', re.S)
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "r": "\r"}
FACTS = re.compile(r": (?:%s)?[A-Za-z][A-Za-z_.\d]*=.*", re.S)  # %s: facts that some sentences lack
# The facts that catalog_tell.c reads as sentences.
FACT_SENTENCES = re.compile(r'\b(?:reason|cause|why|wanted|remedy|allowed|first)="([^"%]*[a-z][,;:]? [^"%]*)"')
# Texts of the page that are the reason of an error as well.
REASONS = re.compile(r'PAGE_TEXT\(\w+_EMPTY,\s*"([^"]+)"')
LABELS = re.compile(r'fsl_screen_(?:field|extra)\(\s*[&\w]+,\s*"([^"]+)"')
# Folders and files whose texts go into pages, timelines, tables and messages of other programs. They are collected like
# all others if a person reads them on the screen: what an error or a line of the log says, a summary in a table of
# names, and what N_() marks.
ELSEWHERE = ("src/report/page", "src/report/trace", "src/report/msprof", "src/report/reporter_textfile.c",
             "src/alarm/channel_webhook.c", "src/state/incidents.c", "src/base/memory_left.c", "src/eval/matrix.c",
             "src/eval/rules.c", "src/eval/setup.c", "src/eval/baseline.c", "src/bench/cases.c",
             "src/source/ftrace/trace_dat_lines.c")
SCREEN_CALLS = {"FSL_FAIL", "fsl_log", "fsl_error_add", "fsl_tell_print"}
PROSE = re.compile(r"[A-Za-z]{2,}[,;:]? +[a-zA-Z`%(]|[%a-z]\S* [a-z]{2,}")
# Literals that programs read, by their text.
FOREIGN = re.compile(
    r"^(SELECT|INSERT|CREATE|UPDATE|DELETE|PRAGMA|BEGIN|COMMIT|ALTER|DROP|WITH|FROM|WHERE|ORDER|AND|JOIN|LEFT|CROSS)\b"
    r'|\r|^%3zu|^\[%\.|^Content-Type|^"[^"]*",?$|^(, )?"[\w .%]+": ["\d%]|^void at::|^%lld %lld|^%ld %s@'
    r"|^# (HELP|TYPE|Accuracy)|\bHTTP/1|\\x|^STATUS=|^<%d>1 "
    # Settings of simulated jobs, lines of their files, commands.
    r'|^(?=.*=)([a-z]+ )?([a-z_0-9]+=[^ ,"]+|%s)( [a-z_0-9]+=[^ ,"]+| %s)*$|^\t"\w+": "|^\[%s|^failslow \w+ .*%'
    # Columns of the profiler's tables, names in its timelines.
    r"|^[A-Z]\w*( [A-Z]\w*)+$|^[Ee]xternal id$|^Collective name$|^SQLite format 3$|^Memset \(Device\)$|^In msg nelems$|^\(anonymous namespace\)$|^, \.\.\. %zu ranks, %016lx\]$|\((us|ms|MB|%|GB/s)\)$|^Communication\(Not Overlapped|^dst rank$"
    # Counters of a trace.
    r"|^(nvlink|pcie|nic) (send|recv)$|^sms? active$"
    # Reasons of zlib and ISA-L, which speak no other language.
    r"|^(incorrect (header|data) check|unknown (compression method|header flags set)|header crc mismatch"
    r"|invalid (block|code|distance too far back)|data error)$"
    # Expressions for lines of training logs, and the bytes that are looked for before them.
    r"|\\[sb|]|\(\?<\w+>$|^(elapsed time per iteration|per step time|step time:|completed step:)$"
    r"|^iter time \(s\)$|^train_step_timing in s$")


def unescape(text):
    return re.sub(r"\\([ntr\"'\\])", lambda match: ESCAPES[match.group(1)], text)


def literals(text):
    """Yields (line, literal, is it marked by N_, is it for the screen in any case); neighbours are joined."""
    line, last, parts, start, before, calls = 1, 0, [], 1, ["", ""], []
    text = re.sub(r"^[ \t]*#[ \t]*include[^\n]*|_Static_assert\(.*?\);|FSL_(?:REQUIRE|ASSERT)\([^;]*\);", "", text,
                  flags=re.M | re.S)
    for match in TOKEN.finditer(text):
        token = match.group()
        line += text.count("\n", last, match.start())
        last = match.start()
        if token.startswith(("/*", "//")):
            continue
        if token.startswith('"'):
            start = line if not parts else start
            parts.append(unescape(token[1:-1]))
        elif parts and token in MACROS:
            parts.append(MACROS[token])
        else:
            if parts:
                is_shown = not SCREEN_CALLS.isdisjoint(calls) or before == ["summary", "="]
                yield start, "".join(parts), before == ["N_", "("], is_shown
                parts = []
            if token == "(":
                calls.append(before[1])
            elif token == ")" and calls:
                calls.pop()
            before = [before[1], token]


def sentences(literal, is_marked):
    """The lines of a literal that are sentences, without facts and blanks at their ends."""
    yield from FACT_SENTENCES.findall(literal)
    for text in literal.split("\n"):
        text = FACTS.sub("", text)
        text = text.strip(" ") if is_marked or PROSE.search(text) else ""
        text = text if "\r" not in text else ""  # a line that shows how far the work is
        if is_marked or (re.search("[a-z]{2}", text) and not FOREIGN.search(text)):
            if text:
                yield text


def collect():
    """{sentence: [place, ...]} of all sources, in their order; before them forms.txt, sentences that pieces make."""
    found = {line: ["src/base/po/forms.txt"] for line in FORMS.read_text().splitlines()
             if line and not line.startswith("#")}
    paths = sorted(path for top in SOURCES for path in (ROOT / top).rglob("*") if path.suffix in (".c", ".h", ".def"))
    for path in paths:
        name = str(path.relative_to(ROOT))
        is_elsewhere = name.startswith(ELSEWHERE)
        text = path.read_text()
        for _, literal, is_marked, is_shown in literals(text):
            for sentence in sentences(literal, is_marked) if is_marked or is_shown or not is_elsewhere else ():
                found.setdefault(sentence, []).append(name)
        for match in [*LABELS.finditer(text), *REASONS.finditer(text)]:
            found.setdefault(unescape(match.group(1)), []).append(name)
    return found


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t") + '"'


HEADER = """msgid ""
msgstr ""
"Project-Id-Version: failslow\\n"
"Language: %s\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


def catalog(found, language, translations):
    """Text of a .po file. Places are files alone: lines would change with every commit."""
    blocks = [HEADER % language]
    for sentence, places in found.items():
        where = "".join(f"#: {place}\n" for place in dict.fromkeys(places))
        blocks.append(f"{where}msgid {quote(sentence)}\nmsgstr {quote(translations.get(sentence, ''))}\n")
    return "\n".join(blocks)


def read_catalog(path):
    """{sentence: translation} of a .po file as catalog() and msgmerge write it."""
    result, key, value = {}, None, None
    for line in path.read_text().splitlines() + [""]:
        match = re.match(r'(msgid|msgstr)? ?("(?:\\.|[^"\\])*")$', line)
        if match and match.group(1) == "msgid":
            key, value = unescape(match.group(2)[1:-1]), None
        elif match and match.group(1) == "msgstr":
            value = unescape(match.group(2)[1:-1])
        elif match and value is None:
            key += unescape(match.group(2)[1:-1])
        elif match:
            value += unescape(match.group(2)[1:-1])
        elif key:
            result[key] = value or ""
            key, value = None, None
    return result


DIRECTIVE = re.compile(r"%(?!%)(?:(\d)\$)?[-+#0-9.*]*(?:hh|ll|[hlzjtL])?[a-zA-Z]")


def faults(sentence, translation):
    """What is wrong with one translation; None: nothing."""
    if not translation:
        return "untranslated"
    if re.search(r"%[^ -~]", translation.replace("%%", "")):
        return "has a sign of percent that reads as a directive"
    if translation.count("|") != sentence.count("|"):
        return "has another number of headings"
    n_english = len([m for m in DIRECTIVE.finditer(sentence)])
    numbers = [int(m.group(1) or 0) for m in DIRECTIVE.finditer(translation)]
    if any(numbers) and not all(numbers):
        return "numbers some directives and others not"
    highest = max(numbers) if any(numbers) else len(numbers)
    return "asks for more directives than there are" if highest > n_english else None


def main():
    found = collect()
    template = catalog(found, "", {})
    wrong = []
    for path in sorted(FOLDER.glob("*.po")):
        known = read_catalog(path)
        wrong += [f"{path.name}: {fault}: {sentence}" for sentence in found
                  if (fault := faults(sentence, known.get(sentence, "")))]
        text = catalog(found, path.stem, known)
        if "--check" not in sys.argv:
            path.write_text(text)
        elif path.read_text() != text:
            wrong.append(f"{path.name}: not as the sources have it, run scripts/make_messages.py")
    if "--check" not in sys.argv:
        TEMPLATE.write_text(template)
    elif not TEMPLATE.exists() or TEMPLATE.read_text() != template:
        wrong.append("failslow.pot: not as the sources have it, run scripts/make_messages.py")
    print("\n".join(wrong) if wrong else f"{len(found)} sentences, all translated")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
