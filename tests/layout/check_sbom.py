#!/usr/bin/env python3
"""Checks the list of linked software: the fields of SPDX 2.3, and that it names what the program needs and tells.

Arguments: the list, the program.
"""
import json
import re
import subprocess
import sys

FIELDS = ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages",
          "relationships")
PACKAGE_FIELDS = ("SPDXID", "name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared",
                  "copyrightText")
# Shared objects that the program may need, and the id of their package.
OBJECTS = {"libcjson": "cjson", "libprotobuf-c": "protobuf", "libsqlite3": "sqlite", "libgsl": "gsl",
           "libgslcblas": "gsl", "libpcre2-8": "pcre2", "libz": "zlib", "libzstd": "zstd", "libcsv": "csv",
           "libgomp": "openmp", "libomp": "openmp", "libc": "libc", "libm": "libc", "ld-linux-x86-64": "libc",
           "ld-linux-aarch64": "libc", "libmpi": "mpi", "libgcc_s": "openmp"}
faults = []


def main():
    document = json.load(open(sys.argv[1], encoding="utf-8"))
    faults.extend(f"the document lacks {field}" for field in FIELDS if field not in document)
    if document["spdxVersion"] != "SPDX-2.3" or document["SPDXID"] != "SPDXRef-DOCUMENT":
        faults.append("this is no SPDX 2.3 document")
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]):
        faults.append(f"created: {document['creationInfo']['created']}")
    packages = {package["SPDXID"]: package for package in document["packages"]}
    if len(packages) != len(document["packages"]):
        faults.append("two packages have one id")
    for package in packages.values():
        faults.extend(f"{package['SPDXID']} lacks {field}" for field in PACKAGE_FIELDS if not package.get(field))
        if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", package["SPDXID"]):
            faults.append(f"{package['SPDXID']} is no id")
    linked = {}
    for relation in document["relationships"]:
        for end in (relation["spdxElementId"], relation["relatedSpdxElement"]):
            if end not in packages and end != "SPDXRef-DOCUMENT":
                faults.append(f"a relationship names {end}, which is no package")
        linked[relation["relatedSpdxElement"]] = relation["relationshipType"]
    headers = subprocess.run(["readelf", "-d", sys.argv[2]], capture_output=True, text=True, check=True).stdout
    needed = {OBJECTS.get(name, name) for name in re.findall(r"NEEDED.*\[([^\]]+?)\.so[.\d]*\]", headers)}
    for name in needed:
        if linked.get(f"SPDXRef-{name}") != "DYNAMIC_LINK":
            faults.append(f"the program needs {name}, the list says {linked.get(f'SPDXRef-{name}')}")
    for name, kind in linked.items():
        if kind == "STATIC_LINK" and name.removeprefix("SPDXRef-") in needed:
            faults.append(f"{name} is said to be in the program, which needs its shared object")
    told = json.loads(subprocess.run([sys.argv[2], "version", "--format", "json"], capture_output=True, text=True,
                                     check=True).stdout)["libraries"]
    by_name = {package["name"]: package["versionInfo"] for package in packages.values()}
    for name, version in told.items():
        if name != "OpenBLAS" and version != "no" and by_name.get(name) != version:
            faults.append(f"{name}: the program tells {version}, the list {by_name.get(name)}")
    for text in faults:
        print(text)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
