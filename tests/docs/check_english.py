#!/usr/bin/env python3
"""Measures plain English: sentences that begin with Of, What, Where or Those, and lines of documents over 120 columns.

usage: check_english.py comments|documents SOURCE_DIR [--list]

Sentences that begin with these words have to be read twice. In comments of the program a small share is allowed, in
documents a handful. --list shows every such sentence of the comments.
"""
import pathlib
import re
import sys
import unicodedata

FIRST = re.compile(r"(?:Of|What|Where|Those)\b")
# Share of the comments' sentences, in percent.
COMMENTS_MAX_PERCENT = 1.5
DOCUMENTS_MAX = 5     # sentences of all documents together
COLUMNS_MAX = 120     # tables, code and text that the program prints are excepted
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*(.*?)\*/|//([^\n]*)', re.S)
SENTENCE_END = re.compile(r"(?<=[.!?:])[\"')]*\s+(?=[\"'(]*[A-Z@`*])")


def sentences(text):
    return [part for part in SENTENCE_END.split(text.strip()) if re.search(r"[A-Za-z]{2}", part)]


def begins_badly(sentence):
    return FIRST.match(sentence.lstrip("\"'(*_"))


def comments_of(path):
    """(line number, text) of each comment; a paragraph of a comment is a text of its own."""
    code = path.read_text(encoding="utf-8")
    for match in COMMENT.finditer(code):
        comment = match.group(1) or match.group(2)
        if not comment:
            continue
        line = code.count("\n", 0, match.start()) + 1
        plain = "\n".join(re.sub(r"^\s*\*+ ?", "", text) for text in comment.split("\n"))
        for paragraph in re.split(r"\n\s*\n", plain):
            yield line, " ".join(paragraph.split())


def check_comments(root, is_list):
    n_sentences, bad = 0, []
    for folder in ("src", "include", "detectors"):
        for path in sorted([*(root / folder).rglob("*.c"), *(root / folder).rglob("*.h")]):
            for line, text in comments_of(path):
                for sentence in sentences(text):
                    n_sentences += 1
                    if begins_badly(sentence):
                        bad.append(f"{path.relative_to(root)}:{line}: {sentence[:100]}")
    percent = 100.0 * len(bad) / max(n_sentences, 1)
    if is_list:
        print("\n".join(bad))
    print(f"{len(bad)} of {n_sentences} sentences in comments begin with Of, What, Where or Those: "
          f"{percent:.2f} %, limit {COMMENTS_MAX_PERCENT} %")
    return n_sentences > 0 and percent <= COMMENTS_MAX_PERCENT


def columns(line):
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def prose_of(path):
    """(line number, text of one line or table cell) outside of code; and faults of width."""
    fence = ""
    faults, prose = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        ticks = re.match(r"\s*(```+)", line)
        is_fence = ticks and (not fence or ticks.group(1) == fence)
        is_code = bool(fence or is_fence)
        if is_fence:
            fence = "" if fence else ticks.group(1)
        if not is_code and not line.startswith("|") and columns(line) > COLUMNS_MAX:
            faults.append(f"{path}:{number}: {columns(line)} columns")
        if is_code:
            prose.append((number, ""))
        elif line.startswith("|"):
            prose += [(number, cell) for text in line.strip("|").split("|") for cell in (text.strip(), "")]
        elif re.match(r"\s*([-*+:]|\d+\.)\s|#|<!--|$", line):
            prose += [(number, ""), (number, re.sub(r"^[\s#*+:-]*(\d+\.)?\s*", "", line))]
            prose += [(number, "")] if line.startswith("#") else []
        else:
            prose.append((number, line.strip()))
    return prose, faults


def bad_sentences_of(path):
    prose, faults = prose_of(path)
    text, begin, bad = [], 0, []
    for number, part in [*prose, (0, "")]:
        if part:
            begin = begin if text else number
            text.append(part)
            continue
        bad += [f"{path}:{begin}: {sentence[:100]}" for sentence in sentences(" ".join(text)) if begins_badly(sentence)]
        text = []
    return bad, faults


def check_documents(root):
    bad, faults = [], []
    documents = sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("packaging/*.md")])
    for path in documents:
        if path.name == "CHANGELOG.md":  # released parts stay as they are
            continue
        some_bad, some_faults = bad_sentences_of(path)
        bad += some_bad
        faults += some_faults
    print("\n".join(bad + faults))
    print(f"{len(bad)} sentences of documents begin with Of, What, Where or Those, limit {DOCUMENTS_MAX}; "
          f"{len(faults)} lines over {COLUMNS_MAX} columns, limit 0")
    return documents and len(bad) <= DOCUMENTS_MAX and not faults


def main():
    subject, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    passed = check_comments(root, "--list" in sys.argv) if subject == "comments" else check_documents(root)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
