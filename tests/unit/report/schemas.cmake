# Documents of the unit tests, of the reference and of a run against the JSON Schemas in docs/.
# Included by tests/CMakeLists.txt after the unit tests, whose properties it sets.
find_program(PYTHON3 python3)
if(PYTHON3)
	add_test(NAME unit.report_schemas
		COMMAND ${PYTHON3} ${CMAKE_CURRENT_LIST_DIR}/check_schemas.py
			--source ${CMAKE_SOURCE_DIR} --samples ${CMAKE_BINARY_DIR}/report-samples
			--shared ${FSL_SHARED_DIR} --program ${CMAKE_BINARY_DIR}/failslow)
	set_tests_properties(unit.report_schemas PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300
		FIXTURES_REQUIRED report_samples)
	foreach(writer test_verdict_json test_perception_json)
		set_tests_properties(unit.${writer} PROPERTIES FIXTURES_SETUP report_samples)
	endforeach()
endif()
