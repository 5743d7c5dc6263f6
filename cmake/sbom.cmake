# The list of what the program is linked with, as SPDX 2.3: failslow.spdx.json in the build folder, installed with the
# program. `cmake --build build --target sbom` tells its path. Versions are those of the headers at configure time.
get_property(linked_statically GLOBAL PROPERTY FSL_LINKED_STATICALLY)
file(STRINGS ${CSV_INCLUDE_DIR}/csv.h csv_lines REGEX "^#define CSV_(MAJOR|MINOR|RELEASE) [0-9]+")
string(REGEX REPLACE "[^0-9;]" "" csv_numbers "${csv_lines}")
list(JOIN csv_numbers "." csv_version)
set(libc_version)
if(NOT CMAKE_CROSSCOMPILING)
	execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE libc_version ERROR_QUIET
		OUTPUT_STRIP_TRAILING_WHITESPACE)
	string(REGEX REPLACE "^glibc " "" libc_version "${libc_version}")
endif()

# target of cmake/dependencies.cmake | name | licence | version | address
set(sbom_rows
	"cjson|cJSON|MIT|${cjson_VERSION}|https://github.com/DaveGamble/cJSON"
	"protobuf|protobuf-c|BSD-2-Clause|${protobuf_VERSION}|https://github.com/protobuf-c/protobuf-c"
	"sqlite|SQLite|blessing|${sqlite_VERSION}|https://sqlite.org"
	"gsl|GSL|GPL-3.0-or-later|${gsl_VERSION}|https://www.gnu.org/software/gsl"
	"pcre2|PCRE2|BSD-3-Clause|${pcre2_VERSION}|https://github.com/PCRE2Project/pcre2"
	"zlib|zlib|Zlib|${zlib_VERSION}|https://zlib.net"
	"zstd|zstd|BSD-3-Clause|${zstd_VERSION}|https://github.com/facebook/zstd"
	"csv|libcsv|LGPL-2.1-or-later|${csv_version}|https://github.com/rgamble/libcsv"
	"openmp|OpenMP runtime|GPL-3.0-or-later WITH GCC-exception-3.1|${CMAKE_C_COMPILER_VERSION}|https://gcc.gnu.org"
	"libc|GNU C library|LGPL-2.1-or-later|${libc_version}|https://www.gnu.org/software/libc"
	"openblas|OpenBLAS|BSD-3-Clause|${openblas_VERSION}|https://github.com/OpenMathLib/OpenBLAS")
if(http_libcurl_FOUND AND http_libcrypto_FOUND)
	list(APPEND sbom_rows "curl|libcurl|curl|${http_libcurl_VERSION}|https://curl.se"
		"crypto|OpenSSL|Apache-2.0|${http_libcrypto_VERSION}|https://www.openssl.org")
endif()
if(kafka_rdkafka_FOUND)
	list(APPEND sbom_rows "rdkafka|librdkafka|BSD-2-Clause|${kafka_rdkafka_VERSION}|https://github.com/confluentinc/librdkafka")
endif()
if(isal_libisal_FOUND)
	list(APPEND sbom_rows "isal|ISA-L|BSD-3-Clause|${isal_libisal_VERSION}|https://github.com/intel/isa-l")
endif()
if(tracecmd_libtracecmd_FOUND AND tracecmd_libtraceevent_FOUND)
	list(APPEND sbom_rows "tracecmd|libtracecmd|LGPL-2.1-only|${tracecmd_libtracecmd_VERSION}|https://git.kernel.org/pub/scm/utils/trace-cmd/trace-cmd.git"
		"traceevent|libtraceevent|LGPL-2.1-only|${tracecmd_libtraceevent_VERSION}|https://git.kernel.org/pub/scm/libs/libtrace/libtraceevent.git")
endif()
if(dw_libdw_FOUND)
	list(APPEND sbom_rows "dw|libdw|LGPL-3.0-or-later OR GPL-2.0-or-later|${dw_libdw_VERSION}|https://sourceware.org/elfutils")
endif()
if(FSL_MPI)
	list(APPEND sbom_rows "mpi|MPI|NOASSERTION|${MPI_C_LIBRARY_VERSION_STRING}|NOASSERTION")
endif()

set(sbom_packages)
set(sbom_relations)
function(sbom_package id name version licence address)
	if(version STREQUAL "")
		set(version NOASSERTION)
	endif()
	list(APPEND sbom_packages "    {\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\",
     \"downloadLocation\": \"${address}\", \"filesAnalyzed\": false, \"licenseConcluded\": \"${licence}\",
     \"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\"}")
	set(sbom_packages "${sbom_packages}" PARENT_SCOPE)
endfunction()

sbom_package(failslow failslow ${PROJECT_VERSION} GPL-3.0-or-later NOASSERTION)
foreach(row IN LISTS sbom_rows)
	string(REPLACE "|" ";" cells "${row}")
	list(GET cells 0 id)
	list(GET cells 1 name)
	list(GET cells 2 licence)
	list(GET cells 3 version)
	list(GET cells 4 address)
	sbom_package(${id} ${name} "${version}" ${licence} ${address})
	if(id MATCHES "^(openblas|curl|crypto|rdkafka|dw|tracecmd|traceevent)$")
		# Loaded at run time if it is there and needed.
		list(APPEND sbom_relations "    {\"spdxElementId\": \"SPDXRef-${id}\",
     \"relationshipType\": \"OPTIONAL_DEPENDENCY_OF\", \"relatedSpdxElement\": \"SPDXRef-failslow\"}")
		continue()
	endif()
	set(kind DYNAMIC_LINK)
	if(id IN_LIST linked_statically)
		set(kind STATIC_LINK)
	endif()
	list(APPEND sbom_relations "    {\"spdxElementId\": \"SPDXRef-failslow\", \"relationshipType\": \"${kind}\",
     \"relatedSpdxElement\": \"SPDXRef-${id}\"}")
endforeach()
list(JOIN sbom_packages ",\n" sbom_packages)
list(JOIN sbom_relations ",\n" sbom_relations)
# string(TIMESTAMP) follows SOURCE_DATE_EPOCH.
string(TIMESTAMP sbom_time "%Y-%m-%dT%H:%M:%SZ" UTC)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/failslow.spdx.json CONTENT "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"failslow-${PROJECT_VERSION}\",
  \"documentNamespace\": \"https://example.org/spdx/failslow-${PROJECT_VERSION}\",
  \"creationInfo\": {\"created\": \"${sbom_time}\", \"creators\": [\"Tool: failslow cmake/sbom.cmake\"]},
  \"documentDescribes\": [\"SPDXRef-failslow\"],
  \"packages\": [
${sbom_packages}
  ],
  \"relationships\": [
    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\",
     \"relatedSpdxElement\": \"SPDXRef-failslow\"},
${sbom_relations}
  ]
}
")
add_custom_target(sbom COMMAND ${CMAKE_COMMAND} -E echo ${CMAKE_BINARY_DIR}/failslow.spdx.json)
install(FILES ${CMAKE_BINARY_DIR}/failslow.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/failslow)
