# Sentences of a verdict stand in the page in both languages, whatever that of the user is.
for language in C.UTF-8 zh_CN.UTF-8; do
	LC_ALL=$language "$FAILSLOW" "$DATASETS/faults/slow_rank" --report $language.html --quiet
done
cmp C.UTF-8.html zh_CN.UTF-8.html
python3 - <<'END'
import html, re
page = open("C.UTF-8.html").read()
head = re.search('<h1 id="headline" data-zh="([^"]*)">(.*?)</h1>', page)
print(re.sub("</?span[^>]*>", "", head[2]))
print(html.unescape(head[1]))
print(len(re.findall(" data-zh=", page)), re.search('<p class="reason"[^>]*>', page)[0].count("rank 5"))
END
