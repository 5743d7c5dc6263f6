# Two builds of one small library, each in a folder of its own, for names of functions in call paths.
foreach(build first other)
	add_library(sample_library_${build} MODULE ${CMAKE_CURRENT_LIST_DIR}/sample_library.c)
	set_target_properties(sample_library_${build} PROPERTIES OUTPUT_NAME sample
		LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/libraries/${build})
	target_link_options(sample_library_${build} PRIVATE LINKER:--build-id=sha1)
	add_dependencies(test_frame_symbols sample_library_${build})
endforeach()
target_compile_definitions(sample_library_other PRIVATE FSL_SAMPLE_OTHER)
