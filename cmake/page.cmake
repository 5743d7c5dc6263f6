# Turns styles and scripts of src/report/page into C texts, with the digests that the page's policy names. A text may be
# made of several files. Lines that are comments are left out: each page holds the rest.
set(page_assets ${CMAKE_BINARY_DIR}/page/assets.c)
set(page_texts "/* Made from styles and scripts of src/report/page by cmake/page.cmake. */\n#include \"report/page/assets.h\"\n")
foreach(asset style:style.css script:common.js:page.js functions_style:style.css:functions.css
		functions_script:common.js:functions.js hosts_style:style.css:hosts.css
		hosts_script:common.js:hosts.js)
	string(REPLACE ":" ";" files ${asset})
	list(POP_FRONT files name)
	set(text "")
	foreach(file ${files})
		set(path ${CMAKE_SOURCE_DIR}/src/report/page/${file})
		set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
		file(READ ${path} part)
		string(APPEND text "${part}")
	endforeach()
	string(REGEX REPLACE "\n/\\*[^\n]*\\*/\n" "\n" text "${text}")
	set(path ${CMAKE_BINARY_DIR}/page/${name})
	file(WRITE ${path} "${text}")
	file(READ ${path} bytes HEX)
	file(SHA256 ${path} digest)
	string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
	string(REPLACE "'\\x0a'," "'\\x0a',\n" bytes "${bytes}")
	string(APPEND page_texts "static const char ${name}_text[] = {\n${bytes}0};\n"
		"const struct fsl_html_asset fsl_html_${name} = {${name}_text, \"${digest}\"};\n")
endforeach()
file(CONFIGURE OUTPUT ${page_assets} CONTENT "${page_texts}" @ONLY)
target_sources(fsl_report PRIVATE ${page_assets})
