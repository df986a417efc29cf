import { expect, test } from 'vitest'
import { checkTable } from './text-table.ts'

test.each([
  ['a header and rows', 'name,lat,lon\nA,1,2\n'],
  ['names in quotes', '"name","lat"\nA,1\n'],
  ['a last column without a name', 'a,b,\n1,2,3\n4,5,6\n'],
  ['a header alone', 'name,lat,lon\n'],
  ['rows that lack their last fields', 'a;b;c\n1;2\n1;2\n1;2;3\n'],
  ['rows that end with delimiters', 'a;b\n1;2;;;\n1;2;;;\n'],
  ['some rows with more fields', 'a,b\n1,2\n1,2,3\n'],
  ['fields with lines of their own', 'a,b\n1,"x\ny, z\nw"\n2,"p\nq"\n'],
  ['a delimiter that is said', 'sep=#\na#b\n1#2\n'],
  ['a column of geometries', 'wkt\n"POINT(1 2)"\n"LINESTRING(1 2,3 4)"\n'],
  ['sentences in a column', 'place; note\nUlm; It has a tower, which is high.\nBonn; It lies on a river, the Rhine.\n'],
  ['texts behind blanks', 'species, note\nQuercus robur L., Found near the river bank.\n'],
  ['names with colons, as keys of OpenStreetMap', 'addr:city,name\nUlm,A\n'],
  ['sentences between tabs', 'The question\t The answer\nWhere does it lie\t It lies near the river.\n'],
  [
    'sentences, as its first line says',
    'sep=,\nThe question, The answer\nWhere does it lie, It lies near the river.\n',
  ],
  ['a single column, as its first line says', 'sep=;\nname\nUlm\nBonn\n'],
  ['empty lines before the header', '\n\na,b\n1,2\n'],
  ['a name with a line end', '"name\nunit",value\nA,1\n'],
  ['a sign before the first name', '#id,name\n1,A\n#2,B\n'],
  ['a sign before the first name, over texts', '#id,name\nA,B\nC,D\n'],
  ['a sign before the first name, over missing numbers', '# x,y\nNA,NA\n1,2\n'],
  ['a sign before the first name, over some numbers', '# name,note\nUlm,high\nBonn,12\nKiel,flat\n'],
  ['a sign at the first name, over a missing number', '#name,height\nUlm,unknown\nBonn,12\n'],
  ['a last field of blanks', '"a";"b"\n"1";"2";"\n"\n'],
  ['empty records before the header', ',,\n,,\na,b,c\n1,2,3\n'],
  ['rows that all lack a field', 'a,b,c\n1,2\n3,4\n'],
  ['words of databases as names', 'Begin;End;Use\n1;2;3\n'],
  ['a description of statements', 'Create;Drop table;Count\nx;y;1;\n'],
])('a table is one: %s', (_, text) => {
  expect(() => checkTable(text, true)).not.toThrow()
})

test.each([
  ['script for a database', 'SET standard_conforming_strings = ON;\nDROP TABLE IF EXISTS "a" CASCADE;\nBEGIN;\n'],
  [
    'script for a database',
    '-- dumped, by pg_dump\n\n/* x; */\nCREATE TABLE a (b int, c text);\nINSERT INTO a VALUES (1, 2);\n',
  ],
  ['script for a database', 'PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE a(b, c);\n'],
  ['not as many fields', 'Dear all, we met\non Monday.\nThe roads, the bridges, and the rest\nare open.\nRegards\n'],
  ['not as many fields', 'import a, b\n\ndef f(x):\n  return x\nprint(f(1, 2, 3))\n'],
  ['not as many fields', '$GPGGA,1,2,3\n$GPGSV,1,2,3,4,5\n$GPRMC,1\n$GPVTG,1,2,3,4\n'],
  ['not as many fields', 'Report,,\na,b,c\n1,2,3\n4,5,6\n'],
  ['not as many fields', 'title: x; y\nauthor: z\ndate: 1\n'],
  ['prose', 'Dear all, we met today\non Monday, at noon of it.\nThe roads, then the bridges\nare open, as you know.\n'],
  [
    'put the line sep=; before',
    'The city lies here; it is small.\nIt is old; it is nice.\nIt has walls; they are high.\n',
  ],
  ['begins with comments', '# made by x, y\n# on a day\na,b\n1,2\n'],
  ['begins with comments', '# made by x, y\nid;name\n1;A\n2;B\n'],
  ['begins with comments', '# made by x, y\nname,height\nA,1\nB,2\n'],
  ['begins with comments', '# made by x; y\n# on a day; z\nname;height\nA;1,5\n'],
  ['remove the lines before line 2', 'Sample 22, made by A, on a day\ncm,%\n400,98\n500,97\n'],
  ['remove the lines before line 3', 'Speeds of a year\nall streets\nname,speed\nA,30\nB,50\n'],
  ['prose', 'The old town, which is small\nNear the river, people fish.\nOn some days, it is hot there'],
  ['reference system alone', 'PROJCS["ETRS89 / UTM zone 32N",GEOGCS["ETRS89",DATUM["x"]]]'],
  ['Markdown', '| a | b |\n|---|---|\n| 1 | 2 |\n'],
  ['connection string', 'PG:dbname=a,host=b\n'],
  ['no format that is known', 'one\ntwo\n'],
])('text that is none is refused as %s', (reason, text) => {
  expect(() => checkTable(text, true)).toThrow(reason)
})
