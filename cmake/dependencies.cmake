# The libraries, one interface target each; what each is for stands in docs/developers/architecture.md.
find_package(PkgConfig REQUIRED)

function(fsl_pkg target module)
	pkg_check_modules(${target} REQUIRED IMPORTED_TARGET ${module})
	add_library(fsl_dep_${target} INTERFACE)
	target_link_libraries(fsl_dep_${target} INTERFACE PkgConfig::${target} ${ARGN})
endfunction()

# Adds @target as PkgConfig::@target would, but of the archives @ARGN where all of them are there: a run of a few
# milliseconds spends one of them on finding and relocating shared libraries of which it needs little.
function(fsl_pkg_archive target module)
	pkg_check_modules(${target} REQUIRED IMPORTED_TARGET ${module})
	pkg_get_variable(folder ${module} libdir) # of these headers, and of no others
	set(archives)
	foreach(name IN LISTS ARGN)
		find_library(FSL_ARCHIVE_${name} lib${name}.a PATHS ${folder} NO_DEFAULT_PATH
			PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE})
		list(APPEND archives ${FSL_ARCHIVE_${name}})
	endforeach()
	add_library(fsl_dep_${target} INTERFACE)
	if(NOT FSL_ARCHIVES OR archives MATCHES "NOTFOUND")
		target_link_libraries(fsl_dep_${target} INTERFACE PkgConfig::${target})
		return()
	endif()
	set_property(GLOBAL APPEND PROPERTY FSL_LINKED_STATICALLY ${target})
	target_include_directories(fsl_dep_${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIRS})
	target_link_libraries(fsl_dep_${target} INTERFACE ${archives} m ${CMAKE_DL_LIBS})
endfunction()

fsl_pkg(cjson libcjson)
fsl_pkg_archive(protobuf libprotobuf-c protobuf-c)
fsl_pkg_archive(sqlite sqlite3 sqlite3)
fsl_pkg_archive(gsl gsl gsl gslcblas)
find_program(PROTOC_C protoc-c REQUIRED)

pkg_check_modules(openblas REQUIRED openblas)
add_library(fsl_dep_math INTERFACE)
# Of openblas the headers only: it is loaded where it is needed (src/base/blas.c), and asks the program.
target_include_directories(fsl_dep_math SYSTEM INTERFACE ${openblas_INCLUDE_DIRS})
target_link_libraries(fsl_dep_math INTERFACE fsl_dep_gsl m ${CMAKE_DL_LIBS})
target_link_options(fsl_dep_math INTERFACE LINKER:--export-dynamic-symbol=openblas_num_threads_env)

fsl_pkg_archive(pcre2 libpcre2-8 pcre2-8)
fsl_pkg_archive(zlib zlib z)
fsl_pkg_archive(zstd libzstd zstd)
add_library(fsl_dep_compress INTERFACE)
target_link_libraries(fsl_dep_compress INTERFACE fsl_dep_zlib fsl_dep_zstd)

# libcsv ships no pkg-config file.
find_path(CSV_INCLUDE_DIR csv.h REQUIRED)
find_library(CSV_LIBRARY csv REQUIRED)
find_library(FSL_ARCHIVE_csv libcsv.a)
add_library(fsl_dep_csv INTERFACE)
target_include_directories(fsl_dep_csv SYSTEM INTERFACE ${CSV_INCLUDE_DIR})
if(FSL_ARCHIVES AND FSL_ARCHIVE_csv)
	set_property(GLOBAL APPEND PROPERTY FSL_LINKED_STATICALLY csv)
	target_link_libraries(fsl_dep_csv INTERFACE ${FSL_ARCHIVE_csv})
else()
	target_link_libraries(fsl_dep_csv INTERFACE ${CSV_LIBRARY})
endif()

# Headers alone: the libraries are loaded when they are needed (src/base/library.c). Receivers of alarms: keys that
# need one without which the program was built are refused.
function(fsl_optional target define)
	set(is_there TRUE)
	add_library(fsl_dep_${target} INTERFACE)
	foreach(module IN LISTS ARGN)
		pkg_check_modules(${target}_${module} QUIET ${module})
		if(NOT ${target}_${module}_FOUND)
			set(is_there FALSE)
		endif()
		target_include_directories(fsl_dep_${target} SYSTEM INTERFACE ${${target}_${module}_INCLUDE_DIRS})
	endforeach()
	if(is_there)
		target_compile_definitions(fsl_dep_${target} INTERFACE ${define})
	endif()
	target_link_libraries(fsl_dep_${target} INTERFACE ${CMAKE_DL_LIBS})
endfunction()
fsl_optional(http FSL_HAVE_CURL libcurl libcrypto)
fsl_optional(kafka FSL_HAVE_KAFKA rdkafka)
# Names of functions in call paths.
fsl_optional(dw FSL_HAVE_DW libdw)
# trace.dat of trace-cmd.
fsl_optional(tracecmd FSL_HAVE_TRACECMD libtracecmd libtraceevent)
# Its headers do not tell the version.
target_compile_definitions(fsl_dep_tracecmd INTERFACE FSL_TRACECMD_VERSION="${tracecmd_libtracecmd_VERSION}")
# gzip, unpacked three times as fast as by zlib.
fsl_optional(isal FSL_HAVE_ISAL libisal)

find_package(OpenMP REQUIRED COMPONENTS C)
add_library(fsl_dep_openmp INTERFACE)
target_link_libraries(fsl_dep_openmp INTERFACE OpenMP::OpenMP_C)

if(FSL_MPI)
	find_package(MPI REQUIRED COMPONENTS C)
	add_library(fsl_dep_mpi INTERFACE)
	target_link_libraries(fsl_dep_mpi INTERFACE MPI::MPI_C)
endif()

if(FSL_TESTS)
	fsl_pkg(cmocka cmocka)
endif()
