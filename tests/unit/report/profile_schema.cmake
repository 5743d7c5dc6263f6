# JSON of a profile against its JSON Schema. Included by tests/CMakeLists.txt.
find_program(PYTHON3 python3)
if(PYTHON3)
	add_test(NAME unit.profile_schema COMMAND ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/check_profile_schema.py
		${CMAKE_BINARY_DIR}/failslow ${CMAKE_SOURCE_DIR})
	set_tests_properties(unit.profile_schema PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
