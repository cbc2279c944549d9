#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The parts that what is built consists of and needs (an SBOM), as SPDX 2.3 in JSON, on stdout.
#	packaging/sbom.sh OBJ VERSION
#
# What is needed is read from the programs and libraries themselves: the libraries that the loader
# brings, with the names of the Debian packages that they are of here, if they are of any. Libraries
# that are only loaded where they are found (CUPTI, zstd, SQLite, OTF2, PAPI) are none of it, nor are
# MPIs: the program that is traced brings its own. The same build gives the same bytes: the
# date is $SOURCE_DATE_EPOCH, else the last commit's.
set -eu
export LC_ALL=C
obj=$1
version=$2
seconds=${SOURCE_DATE_EPOCH:-$(git -C "$(dirname "$0")" log -1 --format=%ct 2>/dev/null || date +%s)}
created=$(date -u -d "@$seconds" +%Y-%m-%dT%H:%M:%SZ)

built() {
	for file in "$obj"/bin/vftr-node-agent "$obj"/bin/vftr "$obj"/lib/libvftrace*.so; do
		[ -L "$file" ] || [ ! -e "$file" ] || echo "$file"
	done
}

# each library that one of them needs, but for the MPIs and our own
needed() {
	built | while read -r file; do
		readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'
	done | grep -v -e '^libmpi' -e '^libvftrace' | sort -u
}

# package_of LIBRARY: "NAME VERSION" of the package that has it, if it is known
package_of() {
	path=$(ldconfig -p 2>/dev/null | awk -v l="$1" '$1 == l { print $NF; exit }')
	[ -n "$path" ] && command -v dpkg-query >/dev/null || return 0
	name=$(dpkg-query -S "$(readlink -f "$path")" "$path" 2>/dev/null | sed -n '1s/:.*//p')
	[ -z "$name" ] || dpkg-query -W -f '${Package} ${Version}\n' "$name" | head -n 1
}

# package ID NAME VERSION LICENCE [PURL]: an element of the list
package() {
	printf '    {\n      "SPDXID": "SPDXRef-%s",\n      "name": "%s",\n' "$1" "$2"
	[ -z "$3" ] || printf '      "versionInfo": "%s",\n' "$3"
	[ -z "${5-}" ] || printf '      "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "%s"}],\n' "$5"
	printf '      "downloadLocation": "NOASSERTION",\n      "filesAnalyzed": false,\n'
	printf '      "licenseConcluded": "%s",\n      "licenseDeclared": "%s",\n' "$4" "$4"
	printf '      "copyrightText": "NOASSERTION"\n    }'
}

# id_of LIBRARY: letters, digits, dots and minus are all that an id may have
id_of() {
	printf %s "$1" | tr -c 'A-Za-z0-9.-' -
}

libraries=$(needed)
cat <<END
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "vftr-$version",
  "documentNamespace": "https://spdx.org/spdxdocs/vftr-$version-$seconds",
  "creationInfo": {
    "created": "$created",
    "creators": ["Tool: packaging/sbom.sh of vftr $version"]
  },
  "packages": [
END
package vftr vftr "$version" BSD-3-Clause
for library in $libraries; do
	printf ',\n'
	of=$(package_of "$library")
	number=${of#* }
	package "$(id_of "$library")" "$library" "${of:+$number}" NOASSERTION "${of:+pkg:deb/debian/${of%% *}@$number}"
done
cat <<END

  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-vftr"}
END
for library in $libraries; do
	printf '    ,{"spdxElementId": "SPDXRef-vftr", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "SPDXRef-%s"}\n' \
		"$(id_of "$library")"
done
printf '  ]\n}\n'
